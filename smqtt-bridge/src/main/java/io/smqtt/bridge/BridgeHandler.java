// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.smqtt.config.BridgeAddress;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.session.DeliveryPause;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between the transport of a bridge and our own connection on the same channel. To the other broker it is a client; to our broker it
 * is the client {@code $bridge/<name>} with MQTT 5.0 and a session that does not expire. After both have accepted it, it passes packets on,
 * with other topic names and in the other version. Packet identifiers stay the same, so all state of the message flows is in the two
 * sessions, and an acknowledgement of one broker is that of the other.
 */
@OnEventLoop
final class BridgeHandler extends ChannelDuplexHandler {

    private static final long LEAST_QUIET_MILLIS = 1_000;
    private static final Logger LOG = LoggerFactory.getLogger(BridgeHandler.class);

    private final Bridge bridge;
    private final BridgeConfig config;
    private final BridgeAddress address;
    private final InetSocketAddress target;
    private final boolean bridgeBit;
    private final RemoteSession.Plan plan;
    private final boolean v5;
    private final int maximumPacket;
    private final @Nullable String stateTopic;
    private final @Nullable PacedOutput paced;
    private final Subscriptions subscriptions;
    private final Pings pings;
    private final PacketStream incoming = new PacketStream();
    private final PacketStream outgoing = new PacketStream();
    private @Nullable TooLargePublish skipped;
    private @Nullable RemoteLimits remote;
    private @Nullable Crossing crossing;
    private @Nullable SessionDrain drain; // while the session there is emptied
    private @Nullable String problem;
    private boolean up;
    private boolean atOnce;
    private boolean abandoned;
    private boolean ended;
    private boolean dismissed; // by a DISCONNECT of the other broker
    private boolean reading; // what has come
    private boolean reads; // more
    private boolean opens; // our session: what comes waits
    private boolean opened;
    private boolean stored; // what must be before anything is handled
    private boolean wantsRead;
    private boolean asked;
    private boolean answered;

    /**
     * Creates the handler of one connection.
     *
     * @param bridgeBit whether the bridge bit is set in the CONNECT
     * @param plan what becomes of the session at the other broker
     * @param stateTopic where the other broker publishes whether the bridge is connected; null if it does not
     */
    BridgeHandler(
            Bridge bridge,
            BridgeAddress address,
            InetSocketAddress target,
            boolean bridgeBit,
            RemoteSession.Plan plan,
            @Nullable String stateTopic) {
        this.bridge = bridge;
        this.config = bridge.config();
        this.address = address;
        this.target = target;
        this.bridgeBit = bridgeBit;
        this.plan = plan;
        this.v5 = config.isV5();
        this.stateTopic = stateTopic;
        this.paced = config.maxRate() > 0
                ? new PacedOutput(
                        Math.max(1, config.maxRate() / config.connections()),
                        bridge.core().config().limits().maxOutboundBytes(),
                        bridge.counts())
                : null;
        this.maximumPacket = bridge.core().config().limits().maxPacketBytes();
        this.subscriptions = new Subscriptions(bridge, address.text());
        this.pings = new Pings(bridge.counts(), () -> reads);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        asked = true;
        int growth = bridge.map().growth() + HopCheck.growth(bridge.countsHops());
        ConnectPackets packets =
                new ConnectPackets(config, bridge.core().config().limits(), growth);
        boolean clean = config.cleanStart() || begins();
        context.writeAndFlush(
                packets.there(context.alloc(), clean, bridgeBit, bridge.clientId(), bridge.password(), stateTopic));
        pings.connecting(
                context, config.connectTimeout().toMillis(), () -> close(context, "it does not answer the CONNECT"));
        context.read();
    }

    private boolean begins() {
        return plan == RemoteSession.Plan.BEGIN_ANEW;
    }

    // --- from the other broker

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        pings.alive(); // whatever it sends
        ByteBuf bytes = (ByteBuf) message;
        int size = bytes.readableBytes();
        incoming.add(bytes);
        receive(context, size);
    }

    private void receive(ChannelHandlerContext context, int size) {
        ByteBuf passed = context.alloc().buffer(size + 64);
        reading = true;
        try {
            boolean more = true;
            while (more && problem == null && !opens) {
                more = receiveNext(context, passed);
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            close(context, "it sends something that is not MQTT, or that no broker may send");
        } finally {
            reading = false;
        }
        if (problem == null) {
            incoming.settle(context.alloc());
        } else {
            incoming.clear();
        }
        boolean ends = problem != null;
        inject(context, passed); // also what has come before the packet that ends the connection
        if (ends) {
            context.close();
        }
    }

    /** Handles the next packet; false if it is not complete. */
    private boolean receiveNext(ChannelHandlerContext context, ByteBuf passed) {
        Crossing between = crossing;
        if (between == null && !incoming.isEmpty() && incoming.type() != Packets.CONNACK) {
            throw new IllegalArgumentException("not a CONNACK");
        }
        if (incoming.skips()) {
            return false;
        }
        if (skipped != null && between != null) {
            between.tooLarge(context, skipped);
            skipped = null;
        }
        int length = incoming.length();
        if (length > maximumPacket) {
            return skip(length);
        }
        ByteBuf packet = incoming.next(length);
        if (packet == null) {
            return false;
        }
        received(context, packet, passed);
        return true;
    }

    /** Skips a PUBLISH that our broker does not take: MQTT 3.1.1 has no property that would forbid it. False if its begin is not complete. */
    private boolean skip(int length) {
        if (v5 || crossing == null) {
            throw new IllegalArgumentException("a packet is too large");
        }
        skipped = incoming.read(TooLargePublish::read);
        if (skipped != null) {
            incoming.skip(length);
        }
        return skipped != null;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        reads = false;
        if (remote == null) {
            context.read();
        } else {
            context.fireChannelReadComplete();
        }
    }

    @Override
    public void read(ChannelHandlerContext context) {
        if (opens) {
            wantsRead = true;
        } else {
            reads = true;
            context.read();
        }
    }

    /** Handles what comes from now on, and what has come behind the CONNACK, if all is done that must be before. */
    private void proceed(ChannelHandlerContext context) {
        if (!opens || !opened || !stored || problem != null) {
            return;
        }
        opens = false;
        if (crossing != null) {
            crossing.arrives();
        }
        receive(context, 0);
        if (wantsRead) {
            read(context);
        }
    }

    /** The result of what was to be stored. */
    private void stored(ChannelHandlerContext context, boolean kept) {
        stored = kept;
        if (kept) {
            proceed(context);
        } else {
            ended = true;
            close(context, "the packet identifiers of messages of another address cannot be stored");
        }
    }

    private void received(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        int type = Packets.type(packet);
        Crossing between = crossing;
        if (between == null) {
            answered = true;
            pings.answered();
            Packets.body(packet);
            answered(context, RemoteLimits.read(packet, v5));
            return;
        }
        switch (type) {
            case Packets.PUBLISH -> {
                if (drain != null) {
                    drain.arrived(Packets.qos(packet));
                }
                between.arrived(context, packet, passed);
            }
            case Packets.PUBACK, Packets.PUBREC, Packets.PUBREL, Packets.PUBCOMP -> {
                between.acknowledged(context, packet, passed);
                if (between.refusesAll()) {
                    refusesAll(context);
                }
            }
            case Packets.SUBACK -> subscriptions.subscribed(packet);
            case Packets.UNSUBACK -> {
                subscriptions.unsubscribed(packet);
                bridge.remote().set(address, subscriptions.filters());
            }
            case Packets.PINGRESP -> {
                pings.answered();
                passed.writeBytes(Packets.PINGREQ);
            }
            case Packets.DISCONNECT_TYPE -> {
                dismissed = problem == null;
                close(context, FailureText.ofDisconnect(Packets.reasonOfDisconnect(packet)));
            }
            default -> throw new IllegalArgumentException("not a packet of a server");
        }
    }

    private void refusesAll(ChannelHandlerContext context) {
        boolean resumed = remote != null && remote.sessionPresent();
        if (resumed && bridge.remoteSession().refusesAll(address.text())) {
            endForAnother(context);
        }
    }

    /** No more messages come from the session that is to be begun anew, or they still do: then it is kept. */
    private void drained(ChannelHandlerContext context, boolean empty) {
        bridge.remoteSession().drained(address.text(), empty);
        endForAnother(context);
    }

    /** Ends the connection in peace, and begins another one at once. */
    private void endForAnother(ChannelHandlerContext context) {
        atOnce = true;
        ByteBuf last = context.alloc().buffer();
        writeEnd(last);
        context.writeAndFlush(last);
        close(context, "");
    }

    private void answered(ChannelHandlerContext context, RemoteLimits answer) {
        if (answer.reason() != 0) {
            if (bridgeBit && answer.reason() == 1) {
                bridge.withoutBridgeBit(address.text());
                atOnce = true;
            } else if (stateTopic != null && answer.refusesWill()) {
                bridge.state().refusedThere(address.text(), answer.refusal(v5));
                atOnce = true;
            }
            close(context, answer.refusal(v5));
            return;
        }
        if (answer.sessionPresent() && (config.cleanStart() || begins())) { // [MQTT-3.2.2-2]
            close(context, "it has kept a session although a clean start was asked for");
            return;
        }
        if (answer.sessionPresent() && plan == RemoteSession.Plan.DRAIN) {
            drain = new SessionDrain(
                    Math.max(LEAST_QUIET_MILLIS, config.maxDelay().toMillis()),
                    () -> reads,
                    empty -> drained(context, empty));
        } else if (!answer.sessionPresent()) {
            bridge.remoteSession().begunAnew(address.text());
            bridge.arrivals().begunAnew(address.text());
        }
        if (begins() && !v5 && !config.cleanStart()) { // its session is gone; begin one that it keeps
            atOnce = true;
            context.writeAndFlush(Unpooled.wrappedBuffer(Packets.DISCONNECT));
            close(context, "");
            return;
        }
        boolean sharing = config.isEach() && bridge.topics().stream().anyMatch(BridgeTopic::in);
        if (sharing && !answer.sharedAvailable()) {
            context.writeAndFlush(Unpooled.wrappedBuffer(Packets.DISCONNECT));
            close(context, "it has no shared subscriptions, which nodes: each needs for topics that come in");
            return;
        }
        remote = answer;
        opens = true;
        subscriptions.accepted(answer, answer.sessionPresent() ? bridge.remote().at(address) : Set.of());
        crossing = new Crossing(bridge, address.text(), answer, maximumPacket);
        bridge.core().listeners().serve(context.channel(), new BridgeLink(bridge.name(), target, config.localUser()));
        int window = paced == null ? Packets.LARGEST_ID : paced.window();
        int spare = Packets.LARGEST_ID - subscriptions.requests(); // some packet identifiers are for subscriptions
        context.fireChannelRead(ConnectPackets.here(
                context.alloc(), bridge.sessionId(), Math.min(Math.min(answer.receiveMaximum(), window), spare)));
    }

    // --- from our broker

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (!(message instanceof ByteBuf bytes)) { // of the WebSocket handshake
            context.write(message, promise);
            return;
        }
        ByteBuf passed = context.alloc().buffer(grown(bytes.readableBytes()));
        ByteBuf answers = context.alloc().buffer(0);
        outgoing.add(bytes);
        ByteBuf packet = outgoing.next(outgoing.length());
        while (packet != null) {
            sent(context, packet, passed, answers);
            packet = outgoing.next(outgoing.length());
        }
        outgoing.settle(context.alloc());
        if (paced != null) {
            paced.drainTo(context, passed, answers);
        }
        if (answers.isReadable()) {
            context.executor().execute(() -> inject(context, answers));
        } else {
            answers.release();
        }
        context.write(passed, promise);
    }

    /** Room for packets of the given bytes with longer names, and the property of {@link HopCheck}. */
    private static int grown(int bytes) {
        return bytes + bytes / 4 + 64;
    }

    private void sent(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed, ByteBuf answers) {
        Crossing between = crossing;
        boolean publish = Packets.type(packet) == Packets.PUBLISH;
        if (!abandoned && !ended && subscriptions.collides(packet)) { // one of the store, or a very late answer
            ended = true;
            close(context, "a message has the packet identifier of a subscription that it has not answered");
        }
        boolean drains = drain != null && publish && Packets.qos(packet) > 0;
        if (abandoned || ended || drains) {
            if (publish && between != null) {
                between.withheld(packet);
            }
            return;
        }
        switch (Packets.type(packet)) {
            case Packets.CONNACK -> {
                Packets.body(packet);
                boolean present = packet.readByte() != 0;
                int reason = packet.readUnsignedByte();
                abandoned = reason == 0 && mustBeginAnew(present);
                bridge.own().opened();
                if (between != null && remote != null && reason == 0 && !abandoned) {
                    begins(context, between, remote.sessionPresent(), passed);
                }
                context.executor().execute(() -> opened(context, reason));
            }
            case Packets.PUBLISH -> {
                if (between != null && paced != null) {
                    paced.leaving(context, between, packet);
                } else if (between != null) {
                    between.leaving(packet, passed, answers);
                }
            }
            case Packets.PUBACK, Packets.PUBREC, Packets.PUBREL, Packets.PUBCOMP -> {
                if (drain != null && Packets.isAnswerToPublish(packet)) {
                    drain.answered();
                }
                if (between != null) {
                    between.acknowledging(packet, passed, answers);
                }
            }
            case Packets.DISCONNECT_TYPE -> {
                writeEnd(passed);
                int reason = Packets.reasonOfDisconnect(packet);
                problem = String.format("this broker has ended it with reason 0x%02x", reason);
            }
            case Packets.SUBACK -> subscriptions.subscribedHere(packet);
            default -> {} // PINGRESP
        }
    }

    private void begins(ChannelHandlerContext context, Crossing between, boolean resumed, ByteBuf passed) {
        switch (between.begins(resumed, passed, kept -> stored(context, kept))) {
            case READY -> stored = true;
            case STORING -> {}
            case REFUSED -> {
                ended = true;
                close(context, "messages of another address are not stored yet");
            }
        }
    }

    /** Whether the session at the other broker may know identifiers that ours, which it does not belong to, gives again. */
    private boolean mustBeginAnew(boolean present) {
        return (!present || bridge.isFresh())
                && remote != null
                && remote.sessionPresent()
                && remote.maximumQos() == 2
                && bridge.topics().stream().anyMatch(topic -> topic.out() && topic.qos() == 2);
    }

    /** Our own session is open. */
    private void opened(ChannelHandlerContext context, int reason) {
        RemoteLimits limits = remote;
        Crossing between = crossing;
        if (limits == null || between == null || !context.channel().isActive()) {
            return;
        }
        if (reason != 0) {
            close(context, String.format("this broker refuses the session of the bridge with reason 0x%02x", reason));
            return;
        }
        if (abandoned) {
            bridge.remoteSession().beginAnew(address.text());
            atOnce = true;
            close(context, "");
            return;
        }
        int[] identifiers = between.spareIdentifiers(subscriptions.requests());
        if (identifiers.length < subscriptions.requests()) {
            close(context, "so many messages are in flight that no packet identifier is left for subscriptions");
            return;
        }
        ByteBuf first = context.alloc().buffer();
        subscriptions.writeThere(first, identifiers);
        bridge.remote().set(address, subscriptions.filters());
        if (stateTopic != null && limits.retainAvailable()) {
            Packets.publishState(first, v5, stateTopic, StateTopic.CONNECTED);
        }
        context.writeAndFlush(first);
        up = true;
        DeliveryPause pause = drain == null ? null : bridge.own().deliveryPause();
        if (drain != null) {
            drain.begin(context.executor());
        }
        if (pause != null) {
            pause.begin();
        }
        bridge.own().countGone();
        int interval = limits.serverKeepAlive();
        pings.begin(
                context,
                interval >= 0 ? interval : config.keepAlive().toSeconds(),
                () -> close(context, "it does not answer PINGREQ"));
        bridge.connected(address.text());
        ByteBuf ours = context.alloc().buffer();
        subscriptions.writeHere(ours);
        inject(context, ours);
        opened = true;
        proceed(context);
    }

    private static void inject(ChannelHandlerContext context, ByteBuf bytes) {
        if (context.channel().isActive() && bytes.isReadable()) {
            context.fireChannelRead(bytes);
        } else {
            bytes.release();
        }
    }

    // --- the end

    /** Ends the connection in peace, so that the other broker does not take it for lost. */
    @AnyThread
    void end(Channel channel) {
        channel.eventLoop().execute(() -> {
            ChannelHandlerContext context = channel.pipeline().context(this);
            if (context != null && channel.isActive() && asked) {
                ByteBuf last = context.alloc().buffer();
                writeEnd(last);
                context.writeAndFlush(last);
            }
            channel.close();
        });
    }

    /**
     * Writes the DISCONNECT, which makes the other broker forget the will, and before it what the will would say. Nothing follows it, what
     * the rate holds back neither [MQTT-3.14.4-2].
     */
    private void writeEnd(ByteBuf out) {
        ended = true;
        pings.end();
        if (paced != null) {
            paced.clear();
        }
        if (up && stateTopic != null && remote != null && remote.retainAvailable()) {
            Packets.publishState(out, v5, stateTopic, StateTopic.DISCONNECTED);
        }
        out.writeBytes(Packets.DISCONNECT);
    }

    private void close(ChannelHandlerContext context, String why) {
        if (problem == null) {
            problem = why;
        }
        if (!reading) { // else when what was read before is passed on
            context.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        pings.end();
        if (crossing != null) {
            crossing.ends();
        }
        context.fireChannelInactive();
        incoming.clear();
        outgoing.clear();
        if (paced != null) {
            paced.clear();
        }
        if (drain != null) {
            drain.end();
        }
        if (asked && !answered) {
            bridge.unanswered(bridgeBit);
        }
        if (up && crossing != null && remote != null) {
            crossing.ended(remote.sessionPresent(), !ended && (problem == null || dismissed));
        }
        if (atOnce) {
            bridge.again();
        } else {
            bridge.failed(
                    address.text(),
                    problem != null
                            ? problem
                            : up
                                    ? "it has closed the connection" + closedAfter()
                                    : "it has closed the connection before CONNACK");
        }
    }

    /** Some brokers end the connection when they have refused a message. */
    private String closedAfter() {
        return crossing != null && crossing.awaitsQuota()
                ? " after it has refused a message with reason 0x97 (quota exceeded)"
                : "";
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (!FailureText.isOfPeer(cause)) {
            LOG.error("bridge {}: a packet could not be handled", bridge.name(), cause);
        }
        close(context, FailureText.of(cause));
    }
}
