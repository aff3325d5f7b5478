// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.ImmediateSubscriber;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the broker a Sparkplug Aware MQTT Server (Sparkplug 3.0, section 10.1.4): NBIRTH and DBIRTH messages are retained under
 * {@code $sparkplug/certificates/}. A subscriber in the index like any other, so that other messages take no notice.
 */
@AnyThread
final class BirthCertificates implements CoreFeature, ImmediateSubscriber {

    private static final String CERTIFICATES = "$sparkplug/certificates/";
    private static final String NAME = "$sparkplug";
    private static final List<TopicFilter> BIRTHS =
            List.of(TopicFilter.of("spBv1.0/+/NBIRTH/+"), TopicFilter.of("spBv1.0/+/DBIRTH/+/+"));

    private volatile @Nullable BrokerParts core;

    @Override
    public void start(BrokerParts parts, @Nullable Supplier<ClusterStatus> cluster) {
        core = parts;
        BIRTHS.forEach(filter -> parts.router()
                .index()
                .add(new Subscription(this, filter, null, QoS.EXACTLY_ONCE, false, false, Subscription.NO_IDENTIFIER)));
    }

    @Override
    public void stop() {
        BrokerParts running = core;
        core = null;
        if (running != null) {
            BIRTHS.forEach(filter -> running.router().index().remove(this, filter, null));
        }
    }

    /** The certificate follows on an event loop that its topic decides, so that certificates of one topic keep their order. */
    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        BrokerParts running = core;
        if (running == null) {
            return;
        }
        running.observer().messageDelivered(message.qos(), message.payload().size());
        if (message.payload().size() == 0) { // it would remove the certificate
            return;
        }
        List<RoutingLoop> loops = running.router().loops();
        RoutingLoop loop = loops.get(Math.floorMod(message.topic().hashCode(), loops.size()));
        try {
            loop.executor().execute(() -> publish(running, loop, message));
        } catch (RejectedExecutionException e) {
            return; // the broker has stopped
        }
    }

    private static void publish(BrokerParts running, RoutingLoop loop, ApplicationMessage birth) {
        ApplicationMessage certificate = birth.toBuilder()
                .topic(CERTIFICATES + birth.topic().value())
                .retain(true)
                .build()
                .accepted(loop.nextMessageId(), running.ticker().nanoTime(), birth.publisherId());
        running.sessions().retained().retain(loop, certificate, RouteTicket.NONE);
        running.router().route(loop, certificate, RouteTicket.NONE);
    }

    @Override
    public String id() {
        return NAME;
    }
}
