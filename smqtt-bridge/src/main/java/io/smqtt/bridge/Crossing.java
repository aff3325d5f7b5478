// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.smqtt.message.LogText;
import io.smqtt.session.DeliveryPause;
import io.smqtt.thread.OnEventLoop;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Turns the packets of one broker into those of the other, while both have accepted the connection. A message that is not passed on is
 * acknowledged to the broker that has sent it, counted, and logged at a limited rate.
 */
@OnEventLoop
final class Crossing implements PacedOutput.Passage {

    private static final int IMPLEMENTATION_SPECIFIC = 0x83;
    private static final int TOPIC_NAME_INVALID = 0x90;

    private final Bridge bridge;
    private final String address;
    private final boolean v5;
    private final PublishRewriter out;
    private final PublishRewriter in;
    private final LoweredQos lowered;
    private final @Nullable HopCheck leavingHops;
    private final @Nullable HopCheck arrivingHops;
    private final BridgeCounts counts;
    private final Refusals refusals;
    private final QuotaRetry quota;
    private final @Nullable Exchanges exchanges; // with several addresses
    private final @Nullable Repetitions repetitions; // where others have sent what our session has
    private boolean taken; // by the other broker
    private boolean released;

    /**
     * Creates the state of one connection.
     *
     * @param remote what the other broker allows
     * @param maximumPacket the largest packet that our broker takes, in bytes
     */
    Crossing(Bridge bridge, String address, RemoteLimits remote, int maximumPacket) {
        this.bridge = bridge;
        this.address = address;
        this.v5 = bridge.config().isV5();
        this.counts = bridge.counts();
        this.refusals = bridge.own().refusals();
        this.quota = new QuotaRetry(
                bridge.config(),
                bridge.own()::deliveryPause,
                refusals,
                millis -> bridge.log().quota(address, millis),
                this::expired);
        this.lowered = new LoweredQos(remote.maximumQos());
        boolean several = bridge.config().addresses().size() > 1;
        this.exchanges = several ? new Exchanges(bridge.exchanges(), address, bridge.own()::here) : null;
        this.repetitions = several || bridge.isElected() ? new Repetitions() : null;
        long largest = Math.min(
                limit(remote.maximumPacketSize()), limit(bridge.config().maxPacketBytes()));
        long payload = limit(bridge.config().maxPayloadBytes());
        this.leavingHops = bridge.hopCheck(true);
        this.arrivingHops = bridge.hopCheck(false);
        this.out = new PublishRewriter(
                true,
                v5,
                new RecentNames(bridge.map()::out),
                remote.maximumQos(),
                remote.retainAvailable() && bridge.config().outgoingRetain(),
                largest,
                payload,
                leavingHops);
        this.in = new PublishRewriter(
                v5, true, new RecentNames(bridge.map()::in), 2, true, maximumPacket, payload, arrivingHops);
    }

    private static long limit(long bytes) {
        return bytes > 0 ? bytes : Long.MAX_VALUE;
    }

    /**
     * Our session is open, and sends nothing before this returns.
     *
     * @param resumed whether the other broker has kept its session
     * @param passed takes what comes first for the other broker
     * @param stored receives whether what must be stored before {@link #arrives} is, as {@link ArrivedExchanges#connected}
     * @return how far this connection is
     */
    ArrivedExchanges.Entry begins(boolean resumed, ByteBuf passed, Consumer<Boolean> stored) {
        ArrivedExchanges.Entry entry = bridge.arrivals().connected(address, resumed, stored);
        if (exchanges != null && entry != ArrivedExchanges.Entry.REFUSED) {
            exchanges.begin(resumed, passed);
        }
        return entry;
    }

    /** From now on packets of the other broker come. */
    void arrives() {
        if (repetitions != null) {
            repetitions.begin(bridge.own().here(), bridge.arrivals().isUnsure(address));
        }
    }

    /** Packet identifiers for requests to the other broker; fewer if there are not so many. */
    int[] spareIdentifiers(int count) {
        return exchanges == null
                ? bridge.own().spareIdentifiers(count)
                : exchanges.spareIdentifiers(count, bridge.own()::spareIdentifiers);
    }

    /** A PUBLISH of the other broker. */
    void arrived(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        if (arrivingHops != null && leavingHops != null && isIdentifier(packet)) {
            String id = Packets.payload(packet);
            arrivingHops.remote(id);
            leavingHops.remote(id);
            return;
        }
        if (repetitions != null && Packets.qos(packet) == 2) {
            repetitions.arrived(Packets.packetId(packet), Packets.isRepeated(packet));
        }
        DropCause cause = in.pass(packet, passed);
        if (cause == null) {
            counts.received();
            return;
        }
        int qos = Packets.qos(packet);
        refuse(
                context,
                cause == DropCause.PACKET_TOO_LARGE ? DropCause.TOO_LARGE_HERE : cause,
                Packets.topic(packet),
                qos,
                qos == 0 ? 0 : Packets.packetId(packet));
    }

    /** A PUBLISH of the other broker was skipped, because our broker does not take one of its size. */
    void tooLarge(ChannelHandlerContext context, TooLargePublish skipped) {
        refuse(context, DropCause.TOO_LARGE_HERE, skipped.topic(), skipped.qos(), skipped.packetId());
    }

    private void refuse(ChannelHandlerContext context, DropCause cause, String topic, int qos, int packetId) {
        counts.notTaken(cause);
        bridge.log().dropped(cause, "from", address, LogText.escape(topic));
        if (qos > 0) { // the other broker need not keep it
            ByteBuf answer = context.alloc().buffer(4);
            Packets.acknowledge(answer, qos == 1 ? Packets.PUBACK : Packets.PUBREC, packetId, 0);
            context.writeAndFlush(answer);
        }
    }

    /** Whether a PUBLISH is the identifier of the other broker, which is of this kind then. */
    private static boolean isIdentifier(ByteBuf packet) {
        return Packets.isRetainedQos0(packet) && Packets.topic(packet).equals(BridgeModule.ID_TOPIC);
    }

    @Override
    public void drop(ByteBuf packet, DropCause cause) {
        int id = Packets.qos(packet) == 0 ? 0 : Packets.packetId(packet);
        if (id > 0 && Packets.isRepeated(packet) && !counts.isWithheld(id)) {
            counts.refused(); // it was sent over another connection
        } else {
            counts.notSent(cause);
        }
        if (id > 0) {
            counts.decided(id);
            quota.dropped(id);
        }
        bridge.log().dropped(cause, "for", address, LogText.escape(Packets.topic(packet)));
    }

    @Override
    public boolean expired(ByteBuf packet, ByteBuf answers) {
        int qos = Packets.qos(packet);
        if (qos == 2 && Packets.isRepeated(packet) && !isAway(Packets.packetId(packet))) {
            return false; // [MQTT-4.3.3-7]
        }
        drop(packet, DropCause.EXPIRED);
        if (qos > 0) {
            answerDropped(packet, IMPLEMENTATION_SPECIFIC, answers);
        }
        return true;
    }

    /** Whether the other broker has nothing of a message that our session has sent. */
    private boolean isAway(int id) {
        return counts.isWithheld(id) || refusals.isEnded(id);
    }

    private static void answerDropped(ByteBuf packet, int reason, ByteBuf answers) {
        int type = Packets.qos(packet) == 1 ? Packets.PUBACK : Packets.PUBREC;
        Packets.acknowledge(answers, type, Packets.packetId(packet), reason);
    }

    @Override
    public void withheld(ByteBuf packet) {
        if (Packets.qos(packet) == 0) {
            drop(packet, DropCause.CONNECTION_ENDS);
        } else {
            counts.withheld(packet);
            expiresAgain(Packets.packetId(packet));
        }
    }

    @Override
    public void leaving(ByteBuf packet, ByteBuf passed, ByteBuf answers) {
        int start = passed.writerIndex();
        DropCause cause = out.pass(packet, passed);
        int qos = Packets.qos(packet);
        if (cause == null && qos == 0) {
            counts.sent(true);
            return;
        }
        if (cause == null) {
            boolean repeated = Packets.isRepeated(packet);
            int id = Packets.packetId(packet);
            boolean first = counts.isFirst(repeated, id);
            counts.sent(first);
            if (!repeated && !refusals.isEmpty() && refusals.remove(id)) { // another message had its identifier
                expired();
            }
            if (repeated && (refusals.begins(id) || first)) {
                Packets.asFirst(passed, start);
            }
            lowered.sent(qos, id, answers);
            if (exchanges != null && lowered.isAsItIs(qos) && qos == 2) {
                exchanges.sent(id);
            }
            return;
        }
        drop(packet, cause);
        if (qos > 0) {
            answerDropped(packet, cause == DropCause.TOPIC ? TOPIC_NAME_INVALID : IMPLEMENTATION_SPECIFIC, answers);
        }
    }

    /** An acknowledgement of the other broker. */
    void acknowledged(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        int type = Packets.type(packet);
        Packets.body(packet);
        int id = packet.readUnsignedShort();
        int reason = packet.isReadable() ? packet.readUnsignedByte() : 0;
        if (exchanges != null && type == Packets.PUBCOMP && !exchanges.completed(id)) {
            return;
        }
        if (exchanges != null && type == Packets.PUBREC && reason >= 0x80) {
            exchanges.refused(id);
        }
        if (repetitions != null && type == Packets.PUBREL) {
            repetitions.released(id);
        }
        if (type == Packets.PUBACK || type == Packets.PUBREC) {
            if (reason == QuotaRetry.QUOTA_EXCEEDED && quota.takes(context, id)) {
                return; // our session keeps it in flight
            }
            taken |= reason < 0x80;
            if (reason >= 0x80) {
                counts.refused();
                bridge.log().refused(address, reason);
            }
            quota.settled(context, id, reason < 0x80);
        }
        if (type != Packets.PUBACK || !lowered.acknowledged(id, reason, passed)) {
            Packets.acknowledge(passed, type, id, reason);
        }
    }

    private void expired() {
        bridge.own().expired(1);
    }

    /** A message that our session has sent, and that is not at the other broker, may still expire [MQTT-3.3.2-5]. */
    private void expiresAgain(int id) {
        DeliveryPause session = bridge.own().deliveryPause();
        if (session != null && isAway(id)) {
            session.refused(id);
        }
    }

    /** Whether the other broker refuses all messages again and again. */
    boolean refusesAll() {
        return quota.isInVain();
    }

    /** Whether the other broker has refused messages for the time being, which are to be sent again. */
    boolean awaitsQuota() {
        return quota.isPaused();
    }

    /** The connection ends; our session is still open. */
    void ends() {
        if (exchanges != null) {
            exchanges.end();
        }
    }

    /**
     * The connection has ended. A PUBREL means that the other broker has a message in its session.
     *
     * @param resumed whether it had the session
     * @param byPeer whether the other broker has ended it
     */
    void ended(boolean resumed, boolean byPeer) {
        quota.end();
        if (taken || released) {
            bridge.remoteSession().served(address, false);
        } else if (quota.isPaused() && resumed && byPeer) {
            bridge.remoteSession().served(address, true);
        }
    }

    /** An acknowledgement of our session. */
    void acknowledging(ByteBuf packet, ByteBuf passed, ByteBuf answers) {
        int type = Packets.type(packet);
        Packets.body(packet);
        int id = packet.readUnsignedShort();
        int reason = packet.isReadable() ? packet.readUnsignedByte() : 0;
        released |= type == Packets.PUBREL;
        if (type != Packets.PUBREL || !lowered.released(id, answers)) {
            Packets.acknowledge(passed, type, id, v5 ? reason : 0);
        }
    }
}
