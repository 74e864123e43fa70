showChart("#chart", JSON.parse(document.getElementById("spec").textContent))
  .then(() => byKeyboard(document.body))
  .catch(console.error);
