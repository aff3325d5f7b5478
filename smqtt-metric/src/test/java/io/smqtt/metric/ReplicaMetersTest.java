// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The meters of replicas. */
class ReplicaMetersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Counted replicas = new Counted();
    private long now;

    private double connected() {
        return registry.get("smqtt.replica.members.connected").gauge().value();
    }

    @Test
    void aReadOfAllMetersTakesOneSnapshot() {
        ReplicaMeters.bindTo(registry, replicas, () -> now);
        replicas.taken = 0;
        now += TimeUnit.SECONDS.toNanos(10);

        registry.getMeters().forEach(meter -> meter.measure().forEach(measurement -> measurement.getValue()));

        assertThat(registry.getMeters()).hasSizeGreaterThan(10);
        assertThat(replicas.taken).isEqualTo(1);
    }

    @Test
    void aLaterReadShowsLaterValues() {
        ReplicaMeters.bindTo(registry, replicas, () -> now);
        assertThat(connected()).isEqualTo(3);
        replicas.sample.reaching("a");
        now += TimeUnit.SECONDS.toNanos(1);

        assertThat(connected()).isEqualTo(1);
    }

    /** Counts snapshots. */
    private static final class Counted implements Replicas {

        private final SampleReplicas sample = new SampleReplicas();
        private int taken;

        @Override
        public ReplicaStatus own() {
            return sample.own();
        }

        @Override
        public List<ReplicaStatus> status() {
            taken++;
            return sample.status();
        }

        @Override
        public boolean needsRestart() {
            return false;
        }
    }
}
