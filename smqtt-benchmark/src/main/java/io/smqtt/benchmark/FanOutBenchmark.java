// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.codec.PublishEncoder;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.spi.BrokerObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of one message to many subscribers of one event loop: matching it, and encoding it into the buffer of each. Sessions
 * and sockets are left out.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class FanOutBenchmark {

    /** How many subscribers the topic has. */
    @Param({"1", "10", "500"})
    public int subscribers;

    private final PublishEncoder encoder = new PublishEncoder();
    private final List<EncodingSubscriber> all = new ArrayList<>();
    private final SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
    private final Router router = new Router(
            List.of(ImmediateEventExecutor.INSTANCE), index, new RetainedMessages(0, 0), BrokerObserver.NONE);
    private final RoutingLoop loop = router.loops().get(0);
    private final ApplicationMessage[] messages = {Messages.PLAIN, Messages.message(PublishProperties.EMPTY)};
    private int next;

    /** JMH creates the state. */
    public FanOutBenchmark() {}

    /** Subscribes. */
    @Setup
    public void subscribe() {
        for (int i = 0; i < subscribers; i++) {
            EncodingSubscriber subscriber = new EncodingSubscriber("client-" + i);
            all.add(subscriber);
            index.add(IndexFixture.subscription(subscriber, Messages.TOPIC));
        }
    }

    /**
     * Routes a message that was not encoded before.
     *
     * @return how many subscribers it reached
     */
    @Benchmark
    public int route() {
        return router.route(loop, messages[next++ & 1], RouteTicket.NONE);
    }

    /** Gives the buffers back. */
    @TearDown
    public void release() {
        all.forEach(subscriber -> subscriber.out.release());
    }

    /** Does with a message what a connection does, except for sending it. */
    private final class EncodingSubscriber implements Subscriber {

        private final String id;
        private final ByteBuf out = PooledByteBufAllocator.DEFAULT.directBuffer(512);
        private int packetId;

        private EncodingSubscriber(String id) {
            this.id = id;
        }

        @Override
        public String id() {
            return id;
        }

        @Override
        public @Nullable RoutingLoop owner() {
            return loop;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            out.clear();
            packetId = packetId + 1 & 0x7FFF;
            Messages.encode(encoder, out, ProtocolVersion.MQTT_3_1_1, message, QoS.AT_LEAST_ONCE, packetId + 1);
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }
}
