// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/**
 * Publishers of a plan that have a pace and a quality of service of their own.
 *
 * @param name for people, such as {@code commands}
 * @param first the number of the first of them among all publishers
 * @param count how many follow one another from there
 * @param qos of their messages
 * @param perSecond messages per second of all of them together; 0 for a closed loop
 */
record PublisherGroup(String name, int first, int count, int qos, double perSecond) {

    boolean has(int publisher) {
        return publisher >= first && publisher < first + count;
    }

    /** The settings of a run, as far as they hold for this group. */
    LoadSettings of(LoadSettings all) {
        return new LoadSettings(
                qos,
                all.payloadBytes(),
                all.retain(),
                perSecond,
                all.window(),
                all.inFlight(),
                all.limit(),
                all.warmUp(),
                all.duration(),
                all.drain());
    }
}
