/* Random amounts. */
#include "fleet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void seed(struct random *random, uint64_t nth)
{
	/* splitmix64: neighbours differ in all bits, and none is 0. */
	uint64_t mixed = (nth + 1) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	random->state = (mixed ^ (mixed >> 31)) | 1;
}

static uint64_t bits(struct random *random)
{
	/* xorshift64* */
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

double unit(struct random *random)
{
	return ((double)(bits(random) >> 12) + 0.5) / (double)(UINT64_C(1) << 52);
}

struct distribution distribution(const char *text)
{
	struct distribution found = { .shape = CONSTANT };
	int end = -1;

	if (!strcmp(text, "constant"))
		return found;
	if (!strcmp(text, "exponential")) {
		found.shape = EXPONENTIAL;
		return found;
	}
	if (sscanf(text, "lognormal:%lf%n", &found.first, &end) == 1 && !text[end]) {
		found.shape = LOGNORMAL;
		return found;
	}
	if (sscanf(text, "bimodal:%lf:%lf%n", &found.first, &found.second, &end) == 2 && !text[end]) {
		found.shape = BIMODAL;
		return found;
	}
	die(0, "found %s, expected constant, exponential, lognormal:CV or bimodal:SHARE:FACTOR", text);
}

double draw(struct random *random, struct distribution of, double mean)
{
	switch (of.shape) {
	case CONSTANT:
		break;
	case EXPONENTIAL:
		return -mean * log(unit(random));
	case LOGNORMAL: {
		double variance = log1p(of.first * of.first);
		double normal = sqrt(-2 * log(unit(random))) * cos(2 * M_PI * unit(random));

		return mean * exp(sqrt(variance) * normal - variance / 2);
	}
	case BIMODAL: {
		double usual = mean / (1 - of.first + of.first * of.second);

		return unit(random) < of.first ? usual * of.second : usual;
	}
	}
	return mean;
}
