// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttConnectReturnCode;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.netty.util.concurrent.EventExecutor;
import io.smqtt.codec.DecoderLimits;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.PayloadMemory;
import io.smqtt.message.PayloadReader;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.Router;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.Bans;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.PublishInterceptor;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection, or two on one event loop's worth of state, over an embedded channel with a clock set by hand. */
final class ConnectionBench implements AutoCloseable {

    final List<String> events = new ArrayList<>();
    final BrokerObserver observer = new BrokerObserver() {
        @Override
        public void connectionClosed(String listener, ReasonCode reason) {
            events.add("closed " + reason);
        }

        @Override
        public void clientConnected(ClientIdentity client, boolean sessionPresent) {
            events.add("connected " + client.clientId());
        }

        @Override
        public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
            events.add("disconnected " + reason);
        }

        @Override
        public void clientTooSlow(String listener) {
            events.add("too slow");
        }

        @Override
        public void connectRefused(ConnectRefusal refusal) {
            events.add("refused " + refusal.reason());
        }

        @Override
        public void willPublished(String clientId) {
            events.add("will " + clientId);
        }

        @Override
        public void messageRefused(io.smqtt.message.QoS qos, ReasonCode reason) {
            if (observerFails) {
                throw new IllegalStateException("on purpose");
            }
            events.add("message refused " + reason);
        }

        @Override
        public void retainedRefused(long count, long bytes) {
            events.add("not retained, there are " + count);
        }
    };

    BrokerConfig config = BrokerConfig.defaults();
    TopicRules topicRules = new TopicRules(config);
    ListenerConfig listener = ListenerConfig.tcp(0);
    Authenticator authenticator =
            request -> Authentication.accepted(request.userName()).now();
    Authorizer authorizer = request -> AccessDecision.ALLOW.now();
    ClientDirectory directory = ClientDirectory.LOCAL;
    final List<EnhancedAuthenticator> methods = new ArrayList<>();
    final List<PublishInterceptor> interceptors = new ArrayList<>();
    boolean awaitsDelivery;
    boolean observerFails;
    boolean plain;

    final Wire wire = new Wire();
    EmbeddedChannel channel = new EmbeddedChannel(wire);
    EmbeddedChannel codec = new EmbeddedChannel(new MqttDecoder(1 << 24), MqttEncoder.INSTANCE);
    private final EmbeddedChannel eventLoop = channel;
    private @Nullable ConnectionFlows flows;
    final QueueBudget budget = new QueueBudget(10_000);
    PayloadMemory payloads = new PayloadMemory(1 << 20);
    long nanos = 1;
    int overloadLevel;
    DeadlineWheel wheel;
    Router router;
    SessionRegistry registry;
    ConnectionLoop loop;
    ConnectionHandler handler;

    /** Makes this a front node. */
    @Nullable
    ConnectionRelay front;

    @Nullable
    Runnable connectTimeout;

    @Nullable
    ReadPlan reads;

    boolean complete;
    boolean settled;

    /** The socket's end of the pipeline: counts, and keeps the answers. */
    static final class Wire extends ChannelOutboundHandlerAdapter {
        int reads;
        int writes;
        boolean stuck;

        @Override
        public void read(ChannelHandlerContext context) {
            reads++;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, io.netty.channel.ChannelPromise promise) {
            if (message instanceof ByteBuf bytes && bytes.isReadable()) {
                writes++;
            }
            context.write(message, promise);
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            if (!stuck) {
                context.flush();
            }
        }
    }

    ConnectionBench open() {
        channel.config().setAutoRead(false);
        EventExecutor executor = channel.eventLoop();
        wheel = new DeadlineWheel(() -> nanos);
        router = new Router(
                List.of(executor),
                new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                new RetainedMessages(100, 100_000),
                observer);
        registry = new SessionRegistry(
                router, List.of(wheel), authorizer, observer, () -> nanos, config.limits(), config.session(), budget);
        loop = new ConnectionLoop(
                router.loops().get(0),
                wheel,
                new PacketDecoder(new DecoderLimits(65_536, 100, 4_096, 128, 100), new PayloadReader(payloads)),
                budget,
                () -> overloadLevel,
                null);
        loop.start();
        Disconnector disconnector = new Disconnector(
                observer,
                () -> nanos,
                config.limits().slowConsumerTimeout(),
                config.session().maxExpiry(),
                config.mqtt().serverReference(),
                new ClientLog(true));
        Interceptors asked = new Interceptors(List.copyOf(interceptors), observer);
        topicRules = new TopicRules(config);
        SubscribeFlow subscribe =
                new SubscribeFlow(config, router, authorizer, asked, topicRules, directory, registry.exclusive());
        ConnectFlow connect = new ConnectFlow(
                config,
                asked,
                Bans.NONE,
                authenticator,
                new EnhancedFlow(methods, disconnector, observer),
                authorizer,
                directory,
                registry,
                subscribe,
                observer,
                disconnector,
                new RateLimits(config, () -> nanos),
                () -> overloadLevel);
        flows = new ConnectionFlows(
                connect,
                new PublishFlow(
                        config,
                        router,
                        registry.retained(),
                        null,
                        authorizer,
                        asked,
                        topicRules,
                        () -> nanos,
                        observer,
                        awaitsDelivery),
                subscribe,
                disconnector);
        handler = new ConnectionHandler(loop, flows, new Link());
        ConnectionRelay elsewhere = front;
        channel.pipeline()
                .addLast(elsewhere == null ? handler : new FrontHandler(loop, flows, new Link(), elsewhere, observer));
        channel.runPendingTasks();
        return this;
    }

    private final class Link implements ClientLink {
        @Override
        public String listener() {
            return "tcp";
        }

        @Override
        public ListenerConfig config() {
            return listener;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return new InetSocketAddress("127.0.0.1", 5_000);
        }

        @Override
        public boolean local() {
            return true;
        }

        @Override
        public boolean webSocket() {
            return false;
        }

        @Override
        public boolean tls() {
            return !plain;
        }

        @Override
        public @Nullable X509Certificate clientCertificate() {
            return null;
        }

        @Override
        public void onConnectTimeout(Runnable action) {
            connectTimeout = action;
        }

        @Override
        public void connectComplete() {
            complete = true;
        }

        @Override
        public void plan(ReadPlan plan) {
            reads = plan;
        }

        @Override
        public void connected() {
            settled = true;
        }
    }

    void pass(Duration time) {
        for (long left = time.toMillis(); left > 0; left -= DeadlineWheel.TICK_MILLIS) {
            nanos += Duration.ofMillis(DeadlineWheel.TICK_MILLIS).toNanos();
            channel.advanceTimeBy(DeadlineWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            wheel.advance();
            channel.runPendingTasks();
        }
    }

    ByteBuf encode(MqttMessage... messages) {
        ByteBuf all = Unpooled.buffer();
        for (MqttMessage message : messages) {
            codec.writeOutbound(message);
            for (ByteBuf part = codec.readOutbound(); part != null; part = codec.readOutbound()) {
                all.writeBytes(part);
                part.release();
            }
        }
        return all;
    }

    void send(MqttMessage... messages) {
        channel.writeInbound(encode(messages));
        eventLoop.runPendingTasks();
        channel.runPendingTasks();
    }

    /** What the broker has written since the last call. */
    List<MqttMessage> received() {
        eventLoop.runPendingTasks();
        channel.runPendingTasks();
        for (Object out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            codec.writeInbound(out);
        }
        List<MqttMessage> messages = new ArrayList<>();
        for (MqttMessage message = codec.readInbound(); message != null; message = codec.readInbound()) {
            messages.add(message);
        }
        return messages;
    }

    List<MqttMessageType> receivedTypes() {
        return received().stream()
                .map(message -> message.fixedHeader().messageType())
                .toList();
    }

    /** A text for each packet: type, identifier, reason code, payload. */
    List<String> answers() {
        return received().stream().map(ConnectionBench::describe).toList();
    }

    private static String describe(MqttMessage message) {
        String type = message.fixedHeader().messageType().name();
        if (message instanceof MqttPublishMessage publish) {
            String text = type + " " + publish.variableHeader().topicName() + " "
                    + publish.payload().toString(StandardCharsets.UTF_8);
            publish.release();
            return text;
        }
        if (message instanceof MqttConnAckMessage connAck) {
            return type + " " + connAck.variableHeader().connectReturnCode().name();
        }
        if (message.variableHeader() instanceof io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader reply) {
            return type + " " + reply.messageId() + " " + Integer.toHexString(reply.reasonCode() & 0xFF);
        }
        if (message.variableHeader()
                instanceof io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader r) {
            return type + " " + Integer.toHexString(r.reasonCode() & 0xFF);
        }
        if (message.variableHeader() instanceof MqttMessageIdVariableHeader id) {
            return type + " " + id.messageId();
        }
        return type;
    }

    static MqttMessage connect(String clientId, MqttVersion version) {
        return connect(clientId, version, MqttProperties.NO_PROPERTIES);
    }

    static MqttMessage connect(String clientId, MqttVersion version, MqttProperties properties) {
        return MqttMessageBuilders.connect()
                .protocolVersion(version)
                .clientId(clientId)
                .cleanSession(true)
                .keepAlive(10)
                .properties(properties)
                .build();
    }

    static MqttMessage publish(String topic, String text, int qos, int packetId) {
        return MqttMessageBuilders.publish()
                .topicName(topic)
                .qos(MqttQoS.valueOf(qos))
                .messageId(packetId)
                .payload(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8))
                .build();
    }

    static MqttMessage subscribe(String filter, int qos, int packetId) {
        return MqttMessageBuilders.subscribe()
                .addSubscription(MqttQoS.valueOf(qos), filter)
                .messageId(packetId)
                .build();
    }

    static MqttMessage ping() {
        return new MqttMessage(new io.netty.handler.codec.mqtt.MqttFixedHeader(
                MqttMessageType.PINGREQ, false, MqttQoS.AT_MOST_ONCE, false, 0));
    }

    /** Connects with MQTT 5.0 and takes the CONNACK away. */
    ConnectionBench connected() {
        return connected(MqttVersion.MQTT_5);
    }

    ConnectionBench connected(MqttVersion version) {
        send(connect("c", version));
        List<MqttMessage> answers = received();
        boolean accepted = answers.size() == 1
                && answers.get(0) instanceof MqttConnAckMessage connAck
                && connAck.variableHeader().connectReturnCode() == MqttConnectReturnCode.CONNECTION_ACCEPTED;
        if (!accepted) {
            throw new AssertionError("not accepted: " + answers);
        }
        return this;
    }

    /** Loses the connection and makes another one, on the same event loop, that resumes the session of MQTT 5.0. */
    void reconnect(MqttProperties properties) {
        reopen(properties);
        if (!receivedTypes().equals(List.of(MqttMessageType.CONNACK))) {
            throw new AssertionError("not accepted");
        }
    }

    /** Like {@link #reconnect}, but leaves all answers. */
    void reopen(MqttProperties properties) {
        channel.close();
        eventLoop.runPendingTasks();
        codec.finishAndReleaseAll();
        codec = new EmbeddedChannel(new MqttDecoder(1 << 24), MqttEncoder.INSTANCE);
        channel = new EmbeddedChannel(new Wire());
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(new ConnectionHandler(loop, flows, new Link()));
        send(MqttMessageBuilders.connect()
                .protocolVersion(MqttVersion.MQTT_5)
                .clientId("c")
                .cleanSession(false)
                .properties(properties)
                .build());
    }

    @Override
    public void close() {
        eventLoop.finishAndReleaseAll();
        channel.finishAndReleaseAll();
        channel.runPendingTasks();
        channel.releaseOutbound();
        codec.finishAndReleaseAll();
    }
}
