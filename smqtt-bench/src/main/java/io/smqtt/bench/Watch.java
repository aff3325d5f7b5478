// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The environment of a run.
 *
 * @param progress receives the progress
 * @param brokerPid the broker's process on this machine, if it is measured
 * @param receiverPid the same of a second broker, from which subscribers receive
 * @param interruption ends the run early
 * @param sampleEvery the interval of a {@link Sample}
 */
record Watch(
        Progress progress,
        @Nullable Long brokerPid,
        @Nullable Long receiverPid,
        Interruption interruption,
        Duration sampleEvery) {

    static final Duration USUAL_SAMPLE = Duration.ofSeconds(1);

    /** The environment of a run with one broker. */
    Watch(Progress progress, @Nullable Long brokerPid, Interruption interruption, Duration sampleEvery) {
        this(progress, brokerPid, null, interruption, sampleEvery);
    }

    /** The same with a second broker. */
    Watch withReceiver(@Nullable Long pid) {
        return new Watch(progress, brokerPid, pid, interruption, sampleEvery);
    }
}
