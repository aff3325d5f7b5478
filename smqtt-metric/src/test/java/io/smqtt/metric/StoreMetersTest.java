// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.spi.StoreFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of the volume that the store is on, and when that is asked for. */
class StoreMetersTest {

    private static final StoreFigures FIGURES = new StoreFigures(true, 0, 0, 0, 0);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @TempDir
    Path directory;

    private double bytes(String name) {
        return registry.get(name).gauge().value();
    }

    /** A volume that hangs must not hang who scrapes: the directory that is gone stands for it. */
    @Test
    void theVolumeIsAskedWithTheFiguresOfTheStoreOnly() throws IOException {
        Path volume = Files.createDirectory(directory.resolve("store"));
        StoreMeters meters = new StoreMeters(registry, volume);
        assertThat(bytes("smqtt.store.disk.free")).isNaN();
        assertThat(bytes("smqtt.store.disk.total")).isNaN();

        meters.measured(FIGURES);
        double total = bytes("smqtt.store.disk.total");
        double free = bytes("smqtt.store.disk.free");
        assertThat(total).isPositive();
        assertThat(free).isBetween(0.0, total);

        Files.delete(volume);
        assertThat(bytes("smqtt.store.disk.total")).isEqualTo(total);
        assertThat(bytes("smqtt.store.disk.free")).isEqualTo(free);

        meters.measured(FIGURES);
        assertThat(bytes("smqtt.store.disk.total")).isNaN();
        assertThat(bytes("smqtt.store.disk.free")).isNaN();
    }

    @Test
    void withoutAStoreThereIsNoVolume() {
        StoreMeters meters = new StoreMeters(registry, null);

        meters.measured(FIGURES);

        assertThat(meters.isPresent()).isFalse();
        assertThat(bytes("smqtt.store.disk.total")).isNaN();
    }

    /** The store's thread tells nothing while it hangs: that is what is seen. */
    @Test
    void aCommitThatDoesNotEndIsAStoreThatHangs() {
        AtomicLong now = new AtomicLong(7);
        StoreMeters meters = new StoreMeters(registry, directory, now::get);
        SimpleMeterRegistry others = new SimpleMeterRegistry();
        Health health = new Health(meters, new BackendCounts(others), new OverloadLevel(others));
        health.listening();
        meters.measured(FIGURES);

        meters.working(true);
        now.addAndGet(Duration.ofSeconds(9).toNanos());
        assertThat(bytes("smqtt.store.commit.age")).isEqualTo(9);
        assertThat(bytes("smqtt.store.healthy")).isEqualTo(1);
        assertThat(health.ready().up()).isTrue();

        now.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(bytes("smqtt.store.healthy")).isZero();
        assertThat(health.ready().up()).isFalse();
        assertThat(health.ready().checks()).containsEntry("store", "hanging");

        meters.working(false);
        assertThat(bytes("smqtt.store.commit.age")).isZero();
        assertThat(bytes("smqtt.store.healthy")).isEqualTo(1);
        assertThat(health.ready().up()).isTrue();
    }

    @Test
    void aNodeWithoutAMajorityOfItsReplicasIsNotReady() {
        StoreMeters meters = new StoreMeters(registry, directory);
        SimpleMeterRegistry others = new SimpleMeterRegistry();
        Health health = new Health(meters, new BackendCounts(others), new OverloadLevel(others));
        health.listening();
        meters.measured(FIGURES);
        SampleReplicas replicas = new SampleReplicas();
        health.replicas(replicas);

        assertThat(health.ready().up()).isTrue();
        assertThat(health.ready().checks()).containsEntry("replicas", "3 of 3");
        replicas.reaching("a", "b");
        assertThat(health.ready().up()).isTrue();
        assertThat(health.ready().checks()).containsEntry("replicas", "2 of 3");
        replicas.reaching("a");
        assertThat(health.ready().up()).isFalse();
        assertThat(health.ready().checks()).containsEntry("replicas", "no majority, 1 of 3");
        replicas.reaching("a", "b", "c").failed("no space left on device");
        assertThat(health.ready().up()).isFalse();
        assertThat(health.ready().checks()).containsEntry("replicas", "failed: no space left on device");
        assertThat(health.live().up()).isTrue();
        replicas.needingRestart();
        assertThat(health.live().up()).isFalse();
        assertThat(health.live().checks()).containsKey("replicas");
    }
}
