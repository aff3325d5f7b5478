// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import io.netty.util.concurrent.FastThreadLocal;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.UserProperty;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Interception;
import io.smqtt.spi.MessageObserver;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Makes the broker a part of traces: an observation for a published message, from its receipt until it is routed, whose parent is the one
 * that the publisher names in the user properties of MQTT 5.0 ({@code traceparent} and {@code tracestate} of W3C, or the properties of the
 * registry's tracer). Subscribers get its context in the same user properties, so that their spans are its children.
 *
 * <pre>{@code
 * MessageTracing tracing = MessageTracing.of(observations, 0.01);
 * Broker.builder().interceptor(tracing).observer(tracing.observer()).start();
 * }</pre>
 *
 * <p>A message with a {@code traceparent} is always observed, and the tracer decides by its flag; of the others a share is observed. It
 * must be the last interceptor: after an interceptor that answers later, an observation ends with the next message of its event loop.
 * Messages of the broker itself (wills, status) are not observed.
 */
@AnyThread
public final class MessageTracing implements PublishInterceptor {

    static final String NAME = "smqtt.publish";

    private static final String PARENT = "traceparent";

    private final ObservationRegistry registry;
    private final double share;
    private final FastThreadLocal<Observed> current = new FastThreadLocal<>();

    private record Observed(Observation received, Observation routed) {

        void stop() {
            routed.stop();
            received.stop();
        }
    }

    private MessageTracing(ObservationRegistry registry, double share) {
        this.registry = registry;
        this.share = share;
    }

    /**
     * Creates traces with the handlers of a registry. Without a handler for tracing messages are not changed.
     *
     * @param registry the registry of the observations
     * @param share the share of messages without a {@code traceparent} that are observed, from 0 for none to 1 for all
     * @return an interceptor and observer for the builder of a broker
     * @throws IllegalArgumentException if the share is out of its range
     */
    public static MessageTracing of(ObservationRegistry registry, double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("the share must be 0 to 1, but is " + share);
        }
        return new MessageTracing(registry, share);
    }

    /**
     * Ends observations when their messages are routed or refused.
     *
     * @return for {@link io.smqtt.BrokerBuilder#observer}
     */
    public MessageObserver observer() {
        return new MessageObserver() {

            @Override
            public void messageReceived(QoS qos, int payloadBytes, int matches) {
                end(matches == 0 ? "unmatched" : "routed");
            }

            @Override
            public void messageRefused(QoS qos, ReasonCode reason) {
                end("refused");
            }
        };
    }

    @Override
    public Mono<Interception<ApplicationMessage>> intercept(ClientIdentity client, ApplicationMessage message) {
        end("late"); // of an earlier message whose observation has not ended
        List<UserProperty> properties = message.properties().isEmpty()
                ? List.of()
                : message.properties().userProperties();
        boolean wanted = find(properties, PARENT) != null
                || (share > 0 && ThreadLocalRandom.current().nextDouble() < share);
        return Mono.just(
                Interception.forward(wanted && !registry.isNoop() ? observed(client, message, properties) : message));
    }

    private ApplicationMessage observed(
            ClientIdentity client, ApplicationMessage message, List<UserProperty> properties) {
        ReceiverContext<List<UserProperty>> from = new ReceiverContext<>(MessageTracing::find, Kind.CONSUMER);
        from.setCarrier(properties);
        from.setRemoteServiceName(client.listener());
        Observation received = Observation.createNotStarted(NAME, () -> from, registry)
                .contextualName("receive")
                .lowCardinalityKeyValue("qos", Integer.toString(message.qos().level()))
                .lowCardinalityKeyValue("listener", client.listener())
                .highCardinalityKeyValue("messaging.system", "mqtt")
                .highCardinalityKeyValue(
                        "messaging.destination.name", message.topic().value())
                .highCardinalityKeyValue("messaging.client.id", client.clientId())
                .start();
        List<UserProperty> context = new ArrayList<>(2);
        SenderContext<List<UserProperty>> to = new SenderContext<>(
                (carrier, name, value) -> {
                    if (carrier != null) {
                        carrier.add(new UserProperty(name, value));
                    }
                },
                Kind.PRODUCER);
        to.setCarrier(context);
        Observation routed = Observation.createNotStarted("smqtt.route", () -> to, registry)
                .contextualName("route")
                .parentObservation(received)
                .start();
        current.set(new Observed(received, routed));
        PublishProperties changed = message.properties();
        for (UserProperty property : context) {
            changed = changed.withUserProperty(property.name(), property.value());
        }
        return context.isEmpty() ? message : message.withProperties(changed);
    }

    /** The value of the first property with a name, or null. */
    private static @Nullable String find(@Nullable List<UserProperty> properties, String name) {
        for (UserProperty property : properties == null ? List.<UserProperty>of() : properties) {
            if (property.name().equals(name)) {
                return property.value();
            }
        }
        return null;
    }

    private void end(String outcome) {
        Observed observed = current.getIfExists();
        if (observed != null) {
            current.remove();
            observed.received().lowCardinalityKeyValue("outcome", outcome);
            observed.stop();
        }
    }
}
