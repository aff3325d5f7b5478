// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.topic.TopicName;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Publishes the topics {@code $event/connect} and {@code $event/close} with the payload of the former smqtt: one QoS 0 message
 * for each client that connects or disconnects, if there is a subscriber. All are published on one event loop, so events of
 * one client keep their order. Reading them needs a rule of the ACL file, or the role admin. Add one instance to one broker,
 * as an observer and as a module:
 *
 * <pre>{@code
 * import io.smqtt.Broker;
 * import io.smqtt.EventTopics;
 *
 * EventTopics events = new EventTopics();
 * Broker broker = Broker.builder().observer(events).module(events).start().block();
 * }</pre>
 */
public final class EventTopics implements BrokerModule, LifecycleObserver {

    private static final TopicName CONNECT = TopicName.of("$event/connect");
    private static final TopicName CLOSE = TopicName.of("$event/close");

    private final Matches matches = new Matches(); // used on that event loop only
    private volatile @Nullable Core core;

    /** Creates an instance; it publishes after its broker has started. */
    public EventTopics() {}

    @Override
    public Mono<Void> start(Core started) {
        core = started;
        return Mono.empty();
    }

    @Override
    public Mono<Void> stop() {
        core = null;
        return Mono.empty();
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        publish(CONNECT, client, "ONLINE");
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        publish(CLOSE, client, "OFFLINE");
    }

    private void publish(TopicName topic, ClientIdentity client, String status) {
        Core running = core;
        if (running == null) {
            return;
        }
        long now = System.currentTimeMillis();
        RoutingLoop loop = running.router().loops().get(0);
        try {
            loop.executor().execute(() -> write(running, loop, topic, client, now, status));
        } catch (RejectedExecutionException e) {
            return; // the broker has stopped
        }
    }

    private void write(
            Core running, RoutingLoop loop, TopicName topic, ClientIdentity client, long now, String status) {
        running.router().index().match(topic, matches);
        boolean awaited = !matches.isEmpty();
        matches.clear();
        if (!awaited) {
            return; // it would be counted as a message without subscribers
        }
        ApplicationMessage message = ApplicationMessage.builder(topic.toString())
                .payload(payload(client, now, status))
                .build()
                .accepted(loop.nextMessageId(), running.ticker().nanoTime(), null);
        running.router().route(loop, message, RouteTicket.NONE);
    }

    static String payload(ClientIdentity client, long millis, String status) {
        return new JsonText()
                .put("clientIdentifier", client.clientId())
                .put("timestamp", millis)
                .put("username", client.userName())
                .put("channelStatus", status)
                .toString();
    }
}
