// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/**
 * Publishers of a plan with their own pace and QoS.
 *
 * @param name the name for display, such as {@code commands}
 * @param first the number of the first one among all publishers
 * @param count the number of consecutive publishers from there
 * @param qos the QoS of their messages
 * @param perSecond messages per second of all of them together; 0 for a closed loop
 */
record PublisherGroup(String name, int first, int count, int qos, double perSecond) {

    boolean has(int publisher) {
        return publisher >= first && publisher < first + count;
    }

    /** The settings of a run for this group. */
    LoadSettings of(LoadSettings all) {
        return new LoadSettings(
                qos,
                all.payloadBytes(),
                all.retain(),
                all.userProperties(),
                perSecond,
                all.window(),
                all.inFlight(),
                all.limit(),
                all.warmUp(),
                all.duration(),
                all.drain());
    }
}
