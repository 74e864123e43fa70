// Edges are 0.002 long at the tip of the crack, and longer by 0.0348 of the distance from there.
Include "crack.geo";
Field[1].F = "0.002 + 0.0348 * Sqrt((x - 0.5)^2 + (y - 0.5)^2)";
