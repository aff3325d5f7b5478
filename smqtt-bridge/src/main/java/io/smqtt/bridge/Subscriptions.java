// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
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

    /** The filters of requests that the other broker has not answered, by packet identifier. */
    private final Map<Integer, String> unanswered = new HashMap<>();

    private final Set<String> kept = new HashSet<>(); // whose end the other broker has refused

    /** The filters that come in, with the options of their subscriptions. */
    private Map<String, Integer> wanted = Map.of();

    /** The filters of former connections that do not come in any more, and are subscribed in the session at the other broker. */
    private List<String> former = List.of();

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

    /**
     * Decides what the other broker is asked for.
     *
     * @param known the filters that its session is known to have
     */
    void accepted(RemoteLimits limits, Set<String> known) {
        wanted = wanted(limits);
        former = known.stream().filter(filter -> !wanted.containsKey(filter)).toList();
    }

    /** The number of requests to the other broker. */
    int requests() {
        return wanted.size() + former.size();
    }

    /** The filters that the session at the other broker has, after {@link #writeThere}: those that come in, and those that it has not removed yet. */
    Set<String> filters() {
        Set<String> all = new TreeSet<>(wanted.keySet());
        former.stream().filter(unanswered::containsValue).forEach(all::add);
        all.addAll(kept);
        return all;
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

    /** A SUBACK of our broker for one of the requests of {@link #writeHere}. */
    void subscribedHere(ByteBuf packet) {
        int reason = packet.getUnsignedByte(packet.writerIndex() - 1);
        if (reason >= 0x80) {
            Packets.body(packet);
            LOG.warn(
                    "bridge {}: this broker refuses the subscription to {} with reason {}; nothing goes out by it",
                    bridge.name(),
                    topics.get(Packets.LARGEST_ID - packet.readUnsignedShort()).local(),
                    String.format("0x%02x", reason));
        }
    }

    private Map<String, Integer> wanted(RemoteLimits limits) {
        Map<String, Integer> all = new LinkedHashMap<>();
        for (BridgeTopic topic : topics) {
            if (topic.in() && topic.remote().hasWildcard() && !limits.wildcardsAvailable()) {
                LOG.warn(
                        "bridge {}: {} has no wildcard subscriptions; nothing comes in by {}",
                        bridge.name(),
                        address,
                        topic.remote());
            } else if (topic.in()) {
                int qos = highestQos(BridgeTopic::in, BridgeTopic::remote, topic.remote());
                if (config.isEach()) { // No Local is an error for shared subscriptions [MQTT-3.8.3-4]
                    String shared = SharedFilter.PREFIX + bridge.name() + '/' + topic.remote();
                    all.put(shared, qos | RETAIN_AS_PUBLISHED);
                } else {
                    all.put(topic.remote().value(), qos | (config.isV5() ? OPTIONS | RETAINED_IF_NEW : 0));
                }
            }
        }
        if (bridge.countsHops()) {
            all.put(BridgeModule.ID_TOPIC, OPTIONS);
        }
        return all;
    }

    /**
     * Writes an UNSUBSCRIBE to the other broker for each filter that does not come in any more, and a SUBSCRIBE for each that does.
     *
     * @param identifiers packet identifiers that no message in flight has, {@link #requests} of them
     */
    void writeThere(ByteBuf out, int[] identifiers) {
        int next = 0;
        for (String filter : former) {
            unanswered.put(identifiers[next], filter);
            Packets.unsubscribe(out, config.isV5(), identifiers[next++], filter);
        }
        for (Map.Entry<String, Integer> filter : wanted.entrySet()) {
            unanswered.put(identifiers[next], filter.getKey());
            Packets.subscribe(out, config.isV5(), identifiers[next++], filter.getKey(), filter.getValue());
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

    /** Whether a PUBLISH or PUBREL has the packet identifier of a request that the other broker has not answered [MQTT-2.2.1-3]. */
    boolean collides(ByteBuf packet) {
        if (unanswered.isEmpty()) {
            return false;
        }
        return switch (Packets.type(packet)) {
            case Packets.PUBLISH -> Packets.qos(packet) > 0 && unanswered.containsKey(Packets.packetId(packet));
            case Packets.PUBREL -> unanswered.containsKey(packet.getUnsignedShort(packet.readerIndex() + 2));
            default -> false;
        };
    }

    /** A SUBACK of the other broker. */
    void subscribed(ByteBuf packet) {
        int reason = packet.getUnsignedByte(packet.writerIndex() - 1);
        String filter = answered(packet);
        if (reason >= 0x80 && filter != null && !filter.equals(BridgeModule.ID_TOPIC)) {
            LOG.warn(
                    "bridge {}: {} refuses the subscription to {} with reason {}; nothing comes in by it",
                    bridge.name(),
                    address,
                    filter,
                    String.format("0x%02x", reason));
        }
    }

    /** An UNSUBACK of the other broker, which has a reason code with MQTT 5.0 only. */
    void unsubscribed(ByteBuf packet) {
        int reason = config.isV5() ? packet.getUnsignedByte(packet.writerIndex() - 1) : 0;
        String filter = answered(packet);
        if (reason >= 0x80 && filter != null) {
            kept.add(filter); // to be asked for again by the next connection
            LOG.warn(
                    "bridge {}: {} does not end the subscription to {}, which is no longer configured: reason {}; messages of it are discarded",
                    bridge.name(),
                    address,
                    filter,
                    String.format("0x%02x", reason));
        }
    }

    private @Nullable String answered(ByteBuf packet) {
        Packets.body(packet);
        return unanswered.remove(packet.readUnsignedShort());
    }
}
