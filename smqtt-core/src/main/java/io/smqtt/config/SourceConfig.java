// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A place from which messages come into this broker: {@code smqtt.sources.<name>.*}. Immutable.
 *
 * @param type the kind of source, such as {@code http}; the page of rules lists the further keys of each
 * @param topic the topic of the messages, with placeholders for what has arrived, such as {@code ${key}}
 * @param payload the payload, with placeholders; by default what has arrived
 * @param qos the QoS of the messages
 * @param retain whether they are retained
 * @param nodes which nodes of a cluster have the source: {@code one}, chosen among those that can be reached, another one when it fails; or
 *     {@code each}
 * @param inflight maximum number of messages that have arrived and are not yet stored; the source is not read beyond that
 * @param minDelay the shortest time until a source that has failed begins again
 * @param maxDelay the longest time until then
 * @param settings the further keys of the block, which its type declares
 */
@ConfigBlock("sources.<name>")
public record SourceConfig(
        @Setting(required = true) String type,
        @Setting(required = true) String topic,
        String payload,
        @Setting(value = "1", min = "0", max = "2") int qos,
        @Setting("false") boolean retain,
        @Setting("one") Nodes nodes,
        @Setting(value = "256", min = "1", max = "32000") int inflight,
        @Setting(value = "500ms", min = "1ms", max = "1h") Duration minDelay,
        @Setting(value = "30s", min = "1ms", max = "1d") Duration maxDelay,
        Map<String, ConfigValue> settings) {

    /** The nodes of a cluster that have a source. */
    public enum Nodes {
        /** One of them; another one when it fails. */
        ONE,
        /** Each of them. */
        EACH
    }

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if the delays contradict each other
     */
    public SourceConfig {
        settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
        Check.that(minDelay.compareTo(maxDelay) <= 0, "sources.<name>.min-delay", "must not be more than max-delay");
    }

    /**
     * Creates a source with defaults.
     *
     * @param type the kind of source
     * @param topic the topic of the messages
     * @return a builder, for one thread
     */
    public static SourceConfigBuilder builder(String type, String topic) {
        return new SourceConfigBuilder().type(type).topic(topic);
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public SourceConfigBuilder toBuilder() {
        return new SourceConfigBuilder(this);
    }
}
