// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.SenderContext;
import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.message.QoS;
import io.smqtt.metric.MessageTracing;
import io.smqtt.metric.MetricModule;
import io.smqtt.spi.Interception;
import io.smqtt.spi.MessageObserver;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Mono;

/**
 * Runs a broker with one event loop whose meters count in every other second only, and prints what a delivered message costs
 * with and without them. In one virtual machine, because two of them differ by more than the meters cost. The load comes
 * from elsewhere, to the port that is printed first. Arguments: pairs of seconds to measure (default 20), seconds before
 * (default 10), counted from the first message, and, to switch tracing instead of the meters, the share of messages that are
 * traced.
 */
public final class ObserverCostMain {

    private static final long WINDOW_NANOS = 1_000_000_000;

    private ObserverCostMain() {}

    /**
     * Measures and prints.
     *
     * @param arguments pairs, seconds before
     */
    public static void main(String[] arguments) {
        int pairs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20;
        int before = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10;
        BrokerConfig config = config();
        MetricModule metrics = MetricModule.create(config);
        MessageTracing tracing = arguments.length > 2 ? tracing(Double.parseDouble(arguments[2])) : null;
        Switched observer = new Switched(tracing == null ? metrics.observer() : tracing.observer());
        BrokerBuilder builder =
                Broker.builder().config(config).observer(observer).module(metrics);
        if (tracing != null) {
            builder.interceptor((client, message) ->
                    observer.on ? tracing.intercept(client, message) : Mono.just(Interception.forward(message)));
        }
        Broker broker = Objects.requireNonNull(builder.start().block());
        InetSocketAddress address = Objects.requireNonNull(broker.listeners().get("tcp"));
        System.out.println("port " + address.getPort());
        measure(observer, pairs, before);
        broker.close(Duration.ZERO).block();
    }

    private static MessageTracing tracing(double share) {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new Injecting());
        return MessageTracing.of(registry, share);
    }

    /** A propagator that adds trace properties to messages, without the cost of a tracer. */
    private static final class Injecting implements ObservationHandler<SenderContext<Object>> {

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof SenderContext<?>;
        }

        @Override
        public void onStart(SenderContext<Object> context) {
            context.getSetter()
                    .set(
                            context.getCarrier(),
                            "traceparent",
                            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        }
    }

    private static BrokerConfig config() {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        return BrokerConfig.builder()
                .listeners(Map.of("tcp", tcp))
                .eventLoops(1)
                .limits(LimitsConfig.builder()
                        .maxPendingConnectionsPerAddress(100_000)
                        .build())
                .access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .build())
                .management(ManagementConfig.builder().port(0).build())
                .build();
    }

    private static void measure(Switched observer, int pairs, int before) {
        while (observer.delivered.get() == 0) {
            LockSupport.parkNanos(WINDOW_NANOS / 100);
        }
        for (int i = 0; i < before; i++) {
            observer.on = i % 2 == 0;
            LockSupport.parkNanos(WINDOW_NANOS);
        }
        List<Double> on = new ArrayList<>();
        List<Double> off = new ArrayList<>();
        for (int pair = 0; pair < pairs; pair++) {
            boolean first = pair % 2 == 0;
            (first ? on : off).add(window(observer, first));
            (first ? off : on).add(window(observer, !first));
        }
        print(on, off);
    }

    private static double window(Switched observer, boolean counting) {
        observer.on = counting;
        long messages = observer.delivered.get();
        long cpu = cpuNanos();
        long end = System.nanoTime() + WINDOW_NANOS;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
        return (double) (cpuNanos() - cpu) / Math.max(1, observer.delivered.get() - messages);
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** The median of the pairs' differences, which the pauses of other programs do not move, and its standard error. */
    private static void print(List<Double> on, List<Double> off) {
        int count = on.size();
        double[] differences = new double[count];
        for (int i = 0; i < count; i++) {
            differences[i] = on.get(i) - off.get(i);
        }
        double median = median(differences);
        double base = median(off.stream().mapToDouble(Double::doubleValue).toArray());
        double[] deviations =
                Arrays.stream(differences).map(d -> Math.abs(d - median)).toArray();
        // Of normal values: 1.48 median deviations are a standard deviation, and a median's error is 1.25 times a
        // mean's.
        double error = 1.25 * 1.48 * median(deviations) / Math.sqrt(count);
        System.out.printf(
                Locale.ROOT,
                "off %.1f ns CPU per delivered message, on %+.1f ns (standard error %.1f): %+.1f %% (%.1f)%n",
                base,
                median,
                error,
                100 * median / base,
                100 * error / base);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Counts deliveries in any case, for the figures, and lets the meters count while they are on. */
    private static final class Switched implements MessageObserver {

        private final MessageObserver meters;
        private volatile boolean on = true;
        private final AtomicLong delivered = new AtomicLong(); // written by the only event loop

        Switched(MessageObserver meters) {
            this.meters = meters;
        }

        @Override
        public void messageReceived(QoS qos, int payloadBytes, int matches) {
            if (on) {
                meters.messageReceived(qos, payloadBytes, matches);
            }
        }

        @Override
        public void messageDelivered(QoS qos, int payloadBytes) {
            delivered.setOpaque(delivered.getPlain() + 1);
            if (on) {
                meters.messageDelivered(qos, payloadBytes);
            }
        }

        @Override
        public void messageRouted(long nanos) {
            if (on) {
                meters.messageRouted(nanos);
            }
        }

        @Override
        public void queueTimed(long nanos) {
            if (on) {
                meters.queueTimed(nanos);
            }
        }

        @Override
        public void deliveryTimed(long nanos) {
            if (on) {
                meters.deliveryTimed(nanos);
            }
        }
    }
}
