// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.channel.ChannelHandlerContext;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import io.smqtt.trace.RunningTraces;
import org.jspecify.annotations.Nullable;

/**
 * The state of one network connection, and the sink of its session's packets. Used on the connection's event loop; ends with the
 * socket.
 */
@OnEventLoop
final class Connection implements PacketSink, TicketOffer.Publisher, TracedConnection {

    /** The phase of the connection. */
    enum Phase {
        /** Only CONNECT is allowed. */
        AWAITING_CONNECT,
        /** The CONNECT is being processed; only AUTH is allowed. */
        CONNECTING,
        /** The CONNACK has been sent. */
        CONNECTED,
        /** Nothing is decoded any more. */
        CLOSING,
        /** The socket is closed. */
        CLOSED
    }

    private final ChannelHandlerContext context;
    private final ConnectionLoop loop;
    private final ClientLink link;
    private final Disconnector disconnector;
    private final Runnable resume;
    private final OutboundBuffer outbound;
    private final PacketOutput output;

    private Phase phase = Phase.AWAITING_CONNECT;
    private int awaited;
    private @Nullable ProtocolVersion version;
    private int maximumPacketBytes;
    private int sendMaximum = 65_535;
    private boolean asksForNoExpiry;
    private boolean cleanStart;
    private long connectedAtMillis;
    private @Nullable ConnectPacket connect;

    private @Nullable Session session;
    private @Nullable ClientIdentity client;
    private @Nullable InboundAliases inboundAliases;
    private @Nullable ConnectionDeadlines deadlines;
    private @Nullable ReadPace pace;
    private @Nullable Authenticating authenticating;
    private @Nullable Runnable withdrawal;
    private @Nullable AcknowledgementOrder acknowledgements;
    private long touchedTick;
    private boolean publishing;
    private boolean sendsWaitingLater;

    /**
     * {@code isWritable} of the channel as of its last change: reading it there takes four objects of Netty for each message. Stays true on a
     * channel that is closed, until the end of the connection follows in the same pass.
     */
    private boolean writable;

    private @Nullable TopicName allowedTopic;
    private long allowedGeneration;
    private @Nullable RewrittenTopic lastRewritten;
    private QoS allowedQos = QoS.AT_MOST_ONCE;
    private boolean allowedRetain;

    Connection(
            ChannelHandlerContext context,
            ConnectionLoop loop,
            ClientLink link,
            Disconnector disconnector,
            Runnable resume) {
        this.context = context;
        this.loop = loop;
        this.link = link;
        this.disconnector = disconnector;
        this.resume = resume;
        this.outbound = new OutboundBuffer(loop, context);
        this.output = new PacketOutput(this, loop, outbound, disconnector);
        this.writable = context.channel().isWritable();
    }

    // --- queries

    @Override
    public @Nullable RunningTraces traces() {
        return loop.traces();
    }

    ChannelHandlerContext context() {
        return context;
    }

    ConnectionLoop loop() {
        return loop;
    }

    @Override
    public ClientLink link() {
        return link;
    }

    Phase phase() {
        return phase;
    }

    void phase(Phase next) {
        phase = next;
    }

    boolean isClosing() {
        return phase.compareTo(Phase.CLOSING) >= 0;
    }

    @Nullable
    ProtocolVersion version() {
        return version;
    }

    /** The version of the CONNECT, which must have arrived. */
    ProtocolVersion knownVersion() {
        ProtocolVersion known = version;
        if (known == null) {
            throw new IllegalStateException("no CONNECT yet");
        }
        return known;
    }

    @Override
    public boolean isV5() {
        return version == ProtocolVersion.MQTT_5;
    }

    int maximumPacketBytes() {
        return maximumPacketBytes;
    }

    OutboundBuffer outbound() {
        return outbound;
    }

    PacketOutput output() {
        return output;
    }

    /** The name of the client in the log. */
    String name() {
        ClientIdentity known = client;
        return known == null ? String.valueOf(link.remoteAddress()) : LogText.escape(known.clientId());
    }

    Session session() {
        Session current = session;
        if (current == null) {
            throw new IllegalStateException("not connected");
        }
        return current;
    }

    @Nullable
    Session sessionOrNull() {
        return session;
    }

    ClientIdentity client() {
        ClientIdentity known = client;
        if (known == null) {
            throw new IllegalStateException("not authenticated");
        }
        return known;
    }

    @Override
    public @Nullable ClientIdentity clientOrNull() {
        return client;
    }

    void client(ClientIdentity authenticated) {
        client = authenticated;
        allowedTopic = null;
    }

    @Nullable
    Authenticating authenticating() {
        return authenticating;
    }

    void authenticating(@Nullable Authenticating exchange) {
        authenticating = exchange;
    }

    // --- reading

    /** Whether the next packet may be decoded: not while an answer is awaited, which the packet must not overtake. */
    boolean mayDecode() {
        return awaited == 0 && !isClosing();
    }

    /** Whether a connected client may have sent more than may be decoded now. */
    boolean isHalted() {
        return awaited > 0 && phase == Phase.CONNECTED;
    }

    /** Stops decoding until {@link #answered()} has been called as often as this method, and then {@link #proceed()}. */
    void await() {
        awaited++;
    }

    /** Ends one {@link #await()}. */
    void answered() {
        awaited--;
    }

    /** Ends one {@link #await()} in a later pass of the event loop, and resumes decoding. */
    @AnyThread
    void answerLater() {
        loop.routing().executor().execute(() -> {
            answered();
            proceed();
        });
    }

    /** Resumes decoding unless another answer is awaited; on the event loop. Has no effect during decoding, which continues anyway. */
    void proceed() {
        if (awaited == 0) {
            resume.run();
        }
    }

    /** Resumes decoding of what has arrived, although answers are awaited: the socket is closed. */
    void finish() {
        resume.run();
    }

    /** Reads from the socket, unless there is a reason to wait. */
    void readNext() {
        if (phase == Phase.CLOSED) {
            return;
        }
        if (phase == Phase.CLOSING) { // until the client closes its side; nothing is decoded
            context.read();
            return;
        }
        if (awaited > 0) {
            return;
        }
        if (phase == Phase.CONNECTED && !writable) {
            return; // no reads from a client that does not read its own output
        }
        if (pace != null && pace.postpones(loop)) {
            return;
        }
        context.read();
    }

    /** Records the arrival of a complete packet. */
    void touch() {
        touchedTick = loop.wheel().nowTick();
    }

    long touchedTick() {
        return touchedTick;
    }

    /** Counts received bytes. */
    void received(int bytes) {
        if (pace != null) {
            pace.received(bytes);
        }
    }

    /** Holds the client to rates, until it is closed. */
    void limit(ClientRates rates) {
        pace = new ReadPace(rates, this);
    }

    ReadPace pace() {
        ReadPace current = pace;
        if (current == null) {
            current = new ReadPace(null, this);
            pace = current;
        }
        return current;
    }

    /** Whether the client is silent because the broker does not read from it. */
    boolean isHeldBack() {
        return awaited > 0 || !writable || (pace != null && pace.isArmed());
    }

    void writabilityChanged() {
        writable = context.channel().isWritable();
        if (phase == Phase.CLOSED) {
            return;
        }
        deadlines().writable(writable);
        if (writable) {
            sendWaiting();
            touch(); // packets sent in the meantime are read only now
            readNext();
        }
    }

    /** Lets the session send queued messages, but never in the middle of a PUBLISH, which they must not overtake. */
    private void sendWaiting() {
        if (publishing) {
            sendsWaitingLater = true;
        } else if (session != null && phase == Phase.CONNECTED) {
            session.start();
        }
    }

    ConnectionDeadlines deadlines() {
        ConnectionDeadlines current = deadlines;
        if (current == null) {
            current = new ConnectionDeadlines(this, disconnector);
            deadlines = current;
        }
        return current;
    }

    // --- life cycle

    /** The CONNECT is readable: from now on answers have the right form. */
    void connecting(ConnectPacket packet, int packetLimit) {
        phase = Phase.CONNECTING;
        connect = packet;
        version = packet.version();
        maximumPacketBytes = packetLimit;
        output.limits(packet);
        asksForNoExpiry = packet.sessionExpirySeconds() == 0;
        cleanStart = packet.cleanStart();
        connectedAtMillis = System.currentTimeMillis();
    }

    void version(ProtocolVersion known) {
        version = known;
    }

    @Override
    public @Nullable ConnectPacket connect() {
        return connect;
    }

    /** The client is accepted: the CONNACK is about to be sent. Aliases are null if there are none. */
    void connected(
            Session opened, int window, @Nullable InboundAliases inbound, @Nullable OutboundAliases towardsClient) {
        connect = null;
        session = opened;
        sendMaximum = window;
        inboundAliases = inbound;
        output.aliases(towardsClient);
        phase = Phase.CONNECTED;
    }

    /** Whether the CONNECT has a session expiry interval of 0, or none. */
    boolean asksForNoExpiry() {
        return asksForNoExpiry;
    }

    InboundAliases inboundAliases() {
        InboundAliases aliases = inboundAliases;
        return aliases == null ? InboundAliases.NONE : aliases;
    }

    /**
     * Sets the request in progress for the client: its authentication, or the claim of its client identifier.
     *
     * @param question cancels the request; run if the connection ends before this method is called with null
     */
    void withdrawal(@Nullable Runnable question) {
        withdrawal = question;
    }

    /** Releases all resources that end with the socket. */
    void closed() {
        phase = Phase.CLOSED;
        Runnable question = withdrawal;
        withdrawal = null;
        if (question != null) {
            question.run();
        }
        outbound.close();
        if (deadlines != null) {
            deadlines.cancel();
        }
        if (pace != null) {
            pace.close();
        }
    }

    /** Whether the last authorization allows the client to publish to this topic under the present rules. */
    boolean isAllowed(TopicName topic, QoS qos, boolean retain, long generation) {
        return topic == allowedTopic && qos == allowedQos && retain == allowedRetain && generation == allowedGeneration;
    }

    void allowed(TopicName topic, QoS qos, boolean retain, long generation) {
        allowedTopic = topic;
        allowedQos = qos;
        allowedRetain = retain;
        allowedGeneration = generation;
    }

    @Nullable
    RewrittenTopic lastRewritten() {
        return lastRewritten;
    }

    void lastRewritten(RewrittenTopic last) {
        lastRewritten = last;
    }

    AcknowledgementOrder acknowledgements() {
        AcknowledgementOrder order = acknowledgements;
        if (order == null) {
            order = new AcknowledgementOrder(this);
            acknowledgements = order;
        }
        return order;
    }

    @Override
    public TicketOffer.RoutedTicket ticket(int packetId, QoS qos) {
        AcknowledgementOrder.Pending ticket = acknowledgements().expectRouted(packetId, qos);
        if (qos == QoS.EXACTLY_ONCE) {
            session().inbound().receivedUnsettled(packetId, ticket);
        }
        return ticket;
    }

    /** Logs that an action of the client was denied. */
    void denied(String action, String topic, @Nullable String reason) {
        disconnector.log().denied(client(), action, topic);
        PacketTrace.denied(this, action, topic, reason);
    }

    /** Whether messages of this client are acknowledged only when they are on stable storage. */
    boolean wantsStable() {
        ListenerConfig.Sync own = link.config().sync();
        return own == ListenerConfig.Sync.SYNC || (own == ListenerConfig.Sync.BROKER && loop.wantsStable());
    }

    /** Whether messages of this client are acknowledged only when they are stored. */
    boolean waitsForStore() {
        ListenerConfig.Sync own = link.config().sync();
        return own == ListenerConfig.Sync.BROKER ? loop.waitsForStore() : own != ListenerConfig.Sync.NONE;
    }

    int pendingAcknowledgements() {
        return acknowledgements == null ? 0 : acknowledgements.atLeastOnce();
    }

    /** Whether acknowledgements wait that no other acknowledgement may overtake. */
    boolean hasPendingAcknowledgements() {
        return acknowledgements != null && !acknowledgements.isEmpty();
    }

    // --- writing

    @Override
    public int keepAliveSeconds() {
        return deadlines().keepAliveSeconds();
    }

    @Override
    @AnyThread
    public long connectedAtMillis() {
        return connectedAtMillis;
    }

    @Override
    @AnyThread
    public @Nullable String front() {
        return link.front();
    }

    @Override
    @AnyThread
    public boolean cleanStart() {
        return cleanStart;
    }

    @Override
    public boolean isWritable() {
        return writable;
    }

    @Override
    public int sendMaximum() {
        return sendMaximum;
    }

    @Override
    public boolean publish(
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate) {
        assert loop.inEventLoop();
        publishing = true;
        try {
            return output.publish(message, subscription, qos, retain, packetId, duplicate);
        } finally {
            publishing = false;
            if (sendsWaitingLater) {
                sendsWaitingLater = false;
                loop.routing().executor().execute(this::sendWaiting);
            }
        }
    }

    @Override
    public void pubRel(int packetId) {
        output.pubRel(packetId, ReasonCode.SUCCESS);
    }

    @Override
    public void disconnect(ReasonCode reason) {
        disconnector.disconnect(this, reason, null);
    }
}
