// Elementary functions in fp64 that give the same bits on every machine, unlike libm.
// Used where a table or a random number must be reproducible; not on hot paths. Errors are below
// 2 units in the last place on the stated ranges; a test compares with 80-bit arithmetic.
#pragma once

namespace arion::real {

// e^x; 0 below about -745.1, infinity above about 709.8, NaN for NaN.
double exp(double x);

// Natural logarithm; -infinity at 0, NaN below.
double log(double x);

// log(1 + x), accurate near 0; -infinity at -1, NaN below.
double log1p(double x);

// base^exponent for base > 0; NaN for other bases.
double pow(double base, double exponent);

struct SinCos {
  double sin, cos;
};

// Sine and cosine of an angle in radians; NaN where |angle| >= 2^31, which no position reaches.
SinCos sincos(double angle);

}  // namespace arion::real
