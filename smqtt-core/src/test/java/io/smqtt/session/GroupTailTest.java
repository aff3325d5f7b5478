// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The queue of a shared group in the store is read while several event loops write to it. */
class GroupTailTest {

    private static final String FILTER = "$share/g/t";
    private static final long GROUP = 7;
    private static final long MEMBER = 8;
    private static final long HOUR = 3_600;
    private static final long FIRST = GroupRecord.FIRST_WAITING;

    private final FoundStore store = new FoundStore();
    private final SessionBench bench = new SessionBench(1, LimitsConfig.defaults(), SessionConfig.defaults(), store);
    private final List<StoredMessage> rows = new ArrayList<>();

    private void run() {
        for (int i = 0; i < 5; i++) {
            bench.run();
            store.commit();
        }
        bench.run();
    }

    private void found(long number, String id, long first, int messages, StoredSubscription... subscriptions) {
        StoredSession header =
                new StoredSession(number, id, null, HOUR, StoredSession.NEVER, null, StoredSession.CONNECTED);
        store.sessions.put(
                number,
                new FoundSession(
                        header,
                        new StoredQueue(first, first + messages, messages, 100L * messages),
                        List.of(subscriptions),
                        List.of()));
    }

    private void row(long number, String text, QoS qos) {
        rows.add(new StoredMessage(
                number, bench.message("t", text, qos), FILTER, qos, false, new int[0], StoredDelivery.WAITING));
        rows.sort((one, other) -> Long.compare(one.sequence(), other.sequence()));
    }

    private void publish(String text, QoS qos, RouteTicket ticket) {
        bench.router.route(bench.loop(0), bench.message("t", text, qos), ticket);
    }

    @Test
    void aMessageThatIsCommittedAfterAPageWasReadIsNotSkipped() {
        found(GROUP, GroupRecord.id(SharedFilter.of(FILTER)), FIRST, 1);
        found(MEMBER, "a", 1, 0, new StoredSubscription(FILTER, QoS.EXACTLY_ONCE, false, false, 0));
        store.messages.put(GROUP, rows);
        row(FIRST, "first", QoS.AT_LEAST_ONCE);
        bench.registry.recover();
        run();
        JointTicket second = new JointTicket();
        publish("second", QoS.EXACTLY_ONCE, second);
        publish("third", QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        row(FIRST + 2, "third", QoS.AT_LEAST_ONCE);

        RecordingSink sink = new RecordingSink();
        SessionBench.Outcome outcome = bench.request("a", 0, false, HOUR, sink);
        store.awaitRead(GROUP, () -> {
            row(FIRST + 1, "second", QoS.EXACTLY_ONCE);
            second.committed(); // between the page and its arrival
        });
        run();

        assertThat(outcome.session).isNotNull();
        assertThat(sink.texts()).containsExactly("first", "second", "third");
    }
}
