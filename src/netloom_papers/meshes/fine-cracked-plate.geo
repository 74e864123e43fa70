// Edges are 0.000175 long along the crack, and longer by 0.0655 of the distance from there:
// across it, and from its tip onwards.
Include "crack.geo";
Field[1].F = "0.000175 + 0.0655 * Sqrt((((Abs(x - 0.25) - 0.25) + Abs((Abs(x - 0.25) - 0.25))) / 2)^2 + (y - 0.5)^2)";
