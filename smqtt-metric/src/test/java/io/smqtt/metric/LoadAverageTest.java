// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LoadAverageTest {

    @Test
    void aSteadyRateIsReachedSoonerByTheShorterAverages() {
        LoadAverage load = new LoadAverage();
        long count = 0;
        for (int i = 0; i < 12; i++) { // two minutes with 5 a second
            count += 50;
            load.update(count, 10);
        }

        assertThat(load.perMinute(0)).isCloseTo(300 * (1 - Math.exp(-2)), within(1e-6));
        assertThat(load.perMinute(1)).isCloseTo(300 * (1 - Math.exp(-0.4)), within(1e-6));
        assertThat(load.perMinute(2)).isCloseTo(300 * (1 - Math.exp(-2 / 15.0)), within(1e-6));
        assertThat(LoadAverage.level(2)).isEqualTo("15min");
    }

    @Test
    void silenceLetsItDecay() {
        LoadAverage load = new LoadAverage();
        load.update(600, 60);
        double before = load.perMinute(0);

        load.update(600, 60);

        assertThat(load.perMinute(0)).isCloseTo(before * Math.exp(-1), within(1e-6));
    }
}
