// The cross-section of a valley, half an ellipse of soil in a rectangle of rock, and its extrusion.
// The last number of a point is the length of edges: finer in the soil than in the rock.
Point(1) = {-0.35, 0, 0, 0.04};
Point(2) = {0.35, 0, 0, 0.04};
Point(3) = {0, 0, 0, 0.04};
Point(4) = {0, -0.45, 0, 0.04};
Point(5) = {1, 0, 0, 0.07};
Point(6) = {1, -1, 0, 0.07};
Point(7) = {-1, -1, 0, 0.07};
Point(8) = {-1, 0, 0, 0.07};
Ellipse(1) = {1, 3, 4, 4};
Ellipse(2) = {4, 3, 4, 2};
Line(3) = {2, 5};
Line(4) = {5, 6};
Line(5) = {6, 7};
Line(6) = {7, 8};
Line(7) = {8, 1};
Line(8) = {2, 1};
Curve Loop(1) = {1, 2, 8};
Plane Surface(1) = {1};
Curve Loop(2) = {1, 2, 3, 4, 5, 6, 7};
Plane Surface(2) = {2};
Recombine Surface {1, 2};
Extrude {0, 0, 2} { Surface{1, 2}; Layers{20}; Recombine; }
