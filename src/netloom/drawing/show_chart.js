// Draws a chart as the page's policy allows: expressions are interpreted, never made code, and
// styles are those of the page.
const showChart = (place, chart, { theme = "light", config } = {}) =>
  vegaEmbed(place, chart, {
    mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, config,
    tooltip: { theme, disableDefaultStyle: true },
  });
