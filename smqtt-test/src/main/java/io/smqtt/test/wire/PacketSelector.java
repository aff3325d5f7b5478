// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Chooses packets and says what happens to them. Each step narrows the choice; the last one names the fault, which is in force from
 * then on, for the packets of all connections together. Immutable.
 *
 * <pre>{@code
 * import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
 * import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
 * import java.time.Duration;
 *
 * proxy.fromBroker(PUBACK).times(1).drop();
 * proxy.fromClient(PUBLISH).topic("a/#").skip(2).delay(Duration.ofSeconds(1));
 * }</pre>
 */
public final class PacketSelector {

    private final MqttProxy proxy;
    private final Side side;
    private final Predicate<WirePacket> condition;
    private final String description;
    private final int skipped;
    private final int limit;

    PacketSelector(MqttProxy proxy, Side side, Set<MqttMessageType> types) {
        this(
                proxy,
                side,
                packet -> types.isEmpty() || types.contains(packet.type()),
                (types.isEmpty() ? "packets" : types.toString()) + " of the " + side,
                0,
                Integer.MAX_VALUE);
    }

    private PacketSelector(
            MqttProxy proxy, Side side, Predicate<WirePacket> condition, String description, int skipped, int limit) {
        this.proxy = proxy;
        this.side = side;
        this.condition = condition;
        this.description = description;
        this.skipped = skipped;
        this.limit = limit;
    }

    /**
     * Only PUBLISH packets of certain topics.
     *
     * @param topicFilter which topics; packets with an alias instead of a topic are not among them
     * @return the narrower choice
     */
    public PacketSelector topic(String topicFilter) {
        TopicFilter filter = TopicFilter.of(topicFilter);
        return matching(
                "topic " + topicFilter,
                packet -> !packet.topic().isEmpty() && filter.matches(TopicName.of(packet.topic())));
    }

    /**
     * Only packets that fulfil a condition.
     *
     * @param name for messages
     * @param wanted called on threads of the proxy; must not throw
     * @return the narrower choice
     */
    public PacketSelector matching(String name, Predicate<WirePacket> wanted) {
        return new PacketSelector(proxy, side, condition.and(wanted), description + " with " + name, skipped, limit);
    }

    /**
     * Lets the first ones pass.
     *
     * @param count how many
     * @return the narrower choice
     */
    public PacketSelector skip(int count) {
        return new PacketSelector(proxy, side, condition, description + " but the first " + count, count, limit);
    }

    /**
     * Lets what comes after the first ones pass.
     *
     * @param count how many packets the fault is for
     * @return the narrower choice
     */
    public PacketSelector times(int count) {
        return new PacketSelector(proxy, side, condition, count + " " + description, skipped, count);
    }

    /**
     * They do not arrive.
     *
     * @return the rule, in force
     */
    public FaultRule drop() {
        return apply(new Fault.Drop());
    }

    /**
     * They arrive later, and so does all behind them in the same direction.
     *
     * @param by how much, in real time
     * @return the rule, in force
     */
    public FaultRule delay(Duration by) {
        return apply(new Fault.Delay(by));
    }

    /**
     * They arrive twice.
     *
     * @return the rule, in force
     */
    public FaultRule duplicate() {
        return apply(new Fault.Duplicate(1));
    }

    /**
     * They arrive after the packet that was sent next.
     *
     * @return the rule, in force
     */
    public FaultRule reorder() {
        return apply(new Fault.Reorder(1));
    }

    /**
     * Instead of arriving they end the connection.
     *
     * @return the rule, in force
     */
    public FaultRule cut() {
        return apply(new Fault.Cut(0));
    }

    /**
     * Any fault happens to them.
     *
     * @param fault what happens
     * @return the rule, in force
     */
    public FaultRule apply(Fault fault) {
        FaultRule rule = new FaultRule(this, fault);
        proxy.add(rule);
        return rule;
    }

    MqttProxy proxy() {
        return proxy;
    }

    Side side() {
        return side;
    }

    Predicate<WirePacket> condition() {
        return condition;
    }

    String description() {
        return description;
    }

    int skipped() {
        return skipped;
    }

    int limit() {
        return limit;
    }
}
