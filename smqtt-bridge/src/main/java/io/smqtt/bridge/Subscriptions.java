// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The subscriptions of one connection of a bridge, at both brokers: one for each filter, with the highest QoS of the topics that have it.
 */
@OnEventLoop
final class Subscriptions {

    private static final Logger LOG = LoggerFactory.getLogger(Subscriptions.class);

    /** Options of a SUBSCRIBE of MQTT 5.0: No Local, Retain As Published. */
    private static final int OPTIONS = 4 | 8;

    private static final int RETAIN_AS_PUBLISHED = 8;

    /** The option of a SUBSCRIBE by which retained messages come for a new subscription only. */
    private static final int RETAINED_IF_NEW = 1 << 4;

    private final Bridge bridge;
    private final BridgeConfig config;
    private final String address;
    private final List<BridgeTopic> topics;

    /**
     * Creates the subscriptions.
     *
     * @param address of the other broker, for logs
     */
    Subscriptions(Bridge bridge, String address) {
        this.bridge = bridge;
        this.config = bridge.config();
        this.address = address;
        this.topics = bridge.topics();
    }

    /** Writes a SUBSCRIBE to our broker for each filter that goes out. */
    void writeHere(ByteBuf out) {
        Set<TopicFilter> done = new HashSet<>();
        for (int i = 0; i < topics.size(); i++) {
            BridgeTopic topic = topics.get(i);
            if (topic.out() && done.add(topic.local())) {
                int qos = highestQos(BridgeTopic::out, BridgeTopic::local, topic.local());
                int retained = bridge.wantsRetained(topic) ? 0 : RETAINED_IF_NEW;
                Packets.subscribe(out, true, Packets.OWN_ID - i, topic.local().value(), qos | OPTIONS | retained);
            }
        }
    }

    /** Writes a SUBSCRIBE to the other broker for each filter that comes in, and for its identifier. */
    void writeThere(ByteBuf out, RemoteLimits limits) {
        Set<TopicFilter> done = new HashSet<>();
        for (int i = 0; i < topics.size(); i++) {
            BridgeTopic topic = topics.get(i);
            if (topic.in() && done.add(topic.remote())) {
                writeThere(out, limits, Packets.OWN_ID - i, topic.remote());
            }
        }
        if (bridge.countsHops()) {
            Packets.subscribe(out, true, Packets.OWN_ID - topics.size(), BridgeModule.ID_TOPIC, OPTIONS);
        }
    }

    private void writeThere(ByteBuf out, RemoteLimits limits, int packetId, TopicFilter filter) {
        if (filter.hasWildcard() && !limits.wildcardsAvailable()) {
            LOG.warn(
                    "bridge {}: {} has no wildcard subscriptions; nothing comes in by {}",
                    bridge.name(),
                    address,
                    filter);
            return;
        }
        int qos = highestQos(BridgeTopic::in, BridgeTopic::remote, filter);
        if (config.isEach()) { // No Local is an error for shared subscriptions [MQTT-3.8.3-4]
            String shared = SharedFilter.PREFIX + bridge.name() + '/' + filter.value();
            Packets.subscribe(out, true, packetId, shared, qos | RETAIN_AS_PUBLISHED);
        } else {
            boolean v5 = config.isV5();
            Packets.subscribe(out, v5, packetId, filter.value(), qos | (v5 ? OPTIONS | RETAINED_IF_NEW : 0));
        }
    }

    private int highestQos(
            Predicate<BridgeTopic> direction, Function<BridgeTopic, TopicFilter> side, TopicFilter filter) {
        return topics.stream()
                .filter(topic -> direction.test(topic) && side.apply(topic).equals(filter))
                .mapToInt(BridgeTopic::qos)
                .max()
                .orElse(0);
    }

    /** A SUBACK of the other broker. */
    void answered(ByteBuf packet) {
        int reason = packet.getUnsignedByte(packet.writerIndex() - 1);
        Packets.body(packet);
        int number = Packets.OWN_ID - packet.readUnsignedShort();
        if (reason >= 0x80 && number >= 0 && number < topics.size()) {
            LOG.warn(
                    "bridge {}: {} refuses the subscription to {} with reason {}; nothing comes in by it",
                    bridge.name(),
                    address,
                    topics.get(number).remote(),
                    String.format("0x%02x", reason));
        }
    }
}
