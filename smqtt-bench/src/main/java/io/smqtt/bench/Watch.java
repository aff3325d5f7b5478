// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What goes on beside a run.
 *
 * @param progress hears how it goes
 * @param brokerPid the broker's process on this machine, if it is to be watched
 * @param interruption ends it early
 * @param sampleEvery the length of an interval of which there is one {@link Sample}
 */
record Watch(Progress progress, @Nullable Long brokerPid, Interruption interruption, Duration sampleEvery) {

    static final Duration USUAL_SAMPLE = Duration.ofSeconds(1);
}
