// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What other nodes ask of a broker that ends at this moment. */
class RouterPartTest {

    private static final class Answer implements RouteTicket {

        private int open;
        private boolean failed;

        @Override
        public void hold() {
            open++;
        }

        @Override
        public void release(boolean success) {
            open--;
            failed |= !success;
        }
    }

    @Test
    void aNodeHasAsManySeatsInAGroupAsMembers() {
        EventExecutor loop = new DefaultEventExecutor();
        SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
        Router router = new Router(List.of(loop), index, new RetainedMessages(1, 1), BrokerObserver.NONE);
        RouterPart part = part(router);
        LocalPart.RemoteRoutes routes = part.join("a", outbox());

        routes.changed(new RouteRow("$share/g/t", 1_000));
        assertThat(seats(index)).isEqualTo(1_000);
        routes.changed(new RouteRow("$share/g/t", 3));
        assertThat(seats(index)).isEqualTo(3);
        routes.changed(new RouteRow("$share/g/t", Integer.MAX_VALUE));
        assertThat(seats(index)).isEqualTo(1_024);
        routes.changed(new RouteRow("$share/g/t", 0));
        assertThat(seats(index)).isZero();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    @Test
    void aDeliveryByOverlappingRoutesIsDurableIfOneOfThemIs() {
        EventExecutor loop = new DefaultEventExecutor();
        SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
        Router router = new Router(List.of(loop), index, new RetainedMessages(1, 1), BrokerObserver.NONE);
        LocalPart.RemoteRoutes routes = part(router).join("a", outbox());

        routes.changed(new RouteRow("t/#", RouteRow.CLEAN));
        routes.changed(new RouteRow("t/1", RouteRow.CLEAN));
        assertThat(identifier(index)).isEqualTo(Subscription.NO_IDENTIFIER);
        routes.changed(new RouteRow("t/+", RouteRow.DURABLE));
        assertThat(identifier(index)).isEqualTo(PeerSubscriber.DURABLE);
        routes.changed(new RouteRow("t/#", RouteRow.DURABLE));
        routes.changed(new RouteRow("t/+", RouteRow.CLEAN));
        assertThat(identifier(index)).isEqualTo(PeerSubscriber.DURABLE);
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    private static int identifier(SubscriptionIndex index) {
        Matches found = new Matches();
        index.match(TopicName.of("t/1"), found);
        found.mergeOverlaps(null);
        assertThat(found.size()).isEqualTo(1);
        return found.get(0).identifier();
    }

    private static PeerOutbox outbox() {
        return new PeerOutbox(
                Runnable::run,
                ClusterSettings.defaults(),
                BrokerObserver.NONE,
                new QueueBudget(Long.MAX_VALUE),
                () -> 1,
                batch -> true,
                (message, group) -> {},
                new ParkedMessages(
                        "a",
                        new ParkLimits(Duration.ofHours(1), 1_000, false),
                        null,
                        new PeerDrops(BrokerObserver.NONE),
                        () -> 0,
                        new ParkLog(() -> 0, alarm -> {})));
    }

    private static int seats(SubscriptionIndex index) {
        SharedGroup group = index.group("g", TopicFilter.of("t"));
        return group == null ? 0 : group.size();
    }

    private static RouterPart withEndedLoops() throws InterruptedException {
        EventExecutor ended = new DefaultEventExecutor();
        ended.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        assertThat(ended.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        Router router = new Router(
                List.of(ended),
                new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                new RetainedMessages(1, 1),
                BrokerObserver.NONE);
        return part(router);
    }

    private static RouterPart part(Router router) {
        return new RouterPart(
                router,
                new SessionRegistry(
                        router,
                        List.of(),
                        request -> Mono.just(AccessDecision.ALLOW),
                        BrokerObserver.NONE,
                        System::nanoTime,
                        LimitsConfig.defaults(),
                        SessionConfig.defaults(),
                        new QueueBudget(1)),
                true);
    }

    @Test
    void aPublisherIsAnsweredThoughTheEventLoopsHaveEnded() throws InterruptedException {
        RouterPart part = withEndedLoops();
        Answer answer = new Answer();
        OutboundMessage message =
                new OutboundMessage(ApplicationMessage.builder("t").payload("x").build());
        message.hold(answer);

        part.redispatch(message, SharedFilter.of("$share/g/t"));
        message.settle(true);

        assertThat(answer.open).isZero();
        assertThat(answer.failed).isTrue();
    }

    @Test
    void whoWaitsUntilAllIsRoutedHearsNothingAndSeesNoFailure() throws InterruptedException {
        RouterPart part = withEndedLoops();
        boolean[] done = {false};

        assertThatCode(() ->
                        part.retain(ApplicationMessage.builder("t").payload("x").build(), () -> done[0] = true))
                .doesNotThrowAnyException();
        assertThatCode(() -> part.afterRouted(() -> done[0] = true)).doesNotThrowAnyException();
        assertThat(done[0]).isFalse();
    }
}
