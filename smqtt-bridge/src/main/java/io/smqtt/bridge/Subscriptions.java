// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.BitSet;
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

    /** The packet identifiers of the requests to the other broker: of each topic, and of its identifier. */
    private int[] requests = {};

    private final BitSet unanswered = new BitSet();

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

    /** The number of requests to the other broker, at most. */
    int most() {
        return topics.size() + 1;
    }

    /**
     * Writes a SUBSCRIBE to our broker for each filter that goes out. It tells requests from messages that come in, whose identifiers the other
     * broker gives.
     */
    void writeHere(ByteBuf out) {
        Set<TopicFilter> done = new HashSet<>();
        for (int i = 0; i < topics.size(); i++) {
            BridgeTopic topic = topics.get(i);
            if (topic.out() && done.add(topic.local())) {
                int qos = highestQos(BridgeTopic::out, BridgeTopic::local, topic.local());
                int retained = bridge.wantsRetained(topic) ? 0 : RETAINED_IF_NEW;
                Packets.subscribe(
                        out, true, Packets.LARGEST_ID - i, topic.local().value(), qos | OPTIONS | retained);
            }
        }
    }

    /**
     * Writes a SUBSCRIBE to the other broker for each filter that comes in, and for its identifier.
     *
     * @param identifiers packet identifiers that no message in flight has, {@link #most} of them
     */
    void writeThere(ByteBuf out, RemoteLimits limits, int[] identifiers) {
        requests = identifiers;
        Set<TopicFilter> done = new HashSet<>();
        for (int i = 0; i < topics.size(); i++) {
            BridgeTopic topic = topics.get(i);
            if (topic.in() && done.add(topic.remote())) {
                writeThere(out, limits, identifiers[i], topic.remote());
            }
        }
        if (bridge.countsHops()) {
            subscribe(out, identifiers[topics.size()], BridgeModule.ID_TOPIC, OPTIONS);
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
            subscribe(out, packetId, shared, qos | RETAIN_AS_PUBLISHED);
        } else {
            subscribe(out, packetId, filter.value(), qos | (config.isV5() ? OPTIONS | RETAINED_IF_NEW : 0));
        }
    }

    private void subscribe(ByteBuf out, int packetId, String filter, int options) {
        unanswered.set(packetId);
        Packets.subscribe(out, config.isV5(), packetId, filter, options);
    }

    private int highestQos(
            Predicate<BridgeTopic> direction, Function<BridgeTopic, TopicFilter> side, TopicFilter filter) {
        return topics.stream()
                .filter(topic -> direction.test(topic) && side.apply(topic).equals(filter))
                .mapToInt(BridgeTopic::qos)
                .max()
                .orElse(0);
    }

    /** Whether a PUBLISH or PUBREL has the packet identifier of a request that the other broker has not answered [MQTT-2.2.1-3]. */
    boolean collides(ByteBuf packet) {
        if (unanswered.isEmpty()) {
            return false;
        }
        return switch (Packets.type(packet)) {
            case Packets.PUBLISH -> Packets.qos(packet) > 0 && unanswered.get(Packets.packetId(packet));
            case Packets.PUBREL -> unanswered.get(packet.getUnsignedShort(packet.readerIndex() + 2));
            default -> false;
        };
    }

    /** A SUBACK of the other broker. */
    void answered(ByteBuf packet) {
        int reason = packet.getUnsignedByte(packet.writerIndex() - 1);
        Packets.body(packet);
        int id = packet.readUnsignedShort();
        unanswered.clear(id);
        for (int i = 0; i < topics.size() && reason >= 0x80; i++) {
            if (requests[i] == id) {
                LOG.warn(
                        "bridge {}: {} refuses the subscription to {} with reason {}; nothing comes in by it",
                        bridge.name(),
                        address,
                        topics.get(i).remote(),
                        String.format("0x%02x", reason));
            }
        }
    }
}
