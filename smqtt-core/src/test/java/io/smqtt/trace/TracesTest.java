// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.TopicFilter;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** What traces include, when event loops know them, and what a listener can do wrong. */
class TracesTest {

    private final Loop loop = new Loop();
    private final Traces traces = new Traces();
    private final List<TraceEvent> events = new ArrayList<>();

    TracesTest() {
        traces.observe(List.of(loop));
    }

    /** An event loop that runs its tasks when the test says so. */
    private static final class Loop implements TracedLoop {

        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private @Nullable RunningTraces running;

        @Override
        public Executor executor() {
            return tasks::add;
        }

        @Override
        public void traces(@Nullable RunningTraces now) {
            running = now;
        }

        void run() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }

        RunningTraces running() {
            return Objects.requireNonNull(running);
        }
    }

    private Disposable start(TraceSubject subject, int payloadBytes, TraceListener listener) {
        List<Disposable> started = new ArrayList<>();
        traces.start(subject, payloadBytes, listener).subscribe(started::add);
        assertThat(started).as("before the event loop knows it").isEmpty();
        loop.run();
        return started.get(0);
    }

    private static ApplicationMessage message(String topic, String payload) {
        return ApplicationMessage.builder(topic).payload(payload).build().accepted(1, 0, "publisher");
    }

    @Test
    void aStartThatIsCancelledLeavesNoTrace() {
        Disposable waiting =
                traces.start(new TraceSubject.OfClient("c"), 0, events::add).subscribe();
        waiting.dispose();
        loop.run();

        assertThat(loop.running).isNull();
    }

    @Test
    void anEventLoopKnowsNoTraceBeforeTheFirstAndAfterTheLast() {
        assertThat(loop.running).isNull();

        Disposable trace = start(new TraceSubject.OfClient("c"), 0, events::add);
        assertThat(loop.running).isNotNull();

        trace.dispose();
        loop.run();
        assertThat(loop.running).isNull();
    }

    @Test
    void aTraceThatHasEndedGetsNothingEvenIfTheLoopDoesNotKnowYet() {
        Disposable trace = start(new TraceSubject.OfClient("c"), 0, events::add);
        trace.dispose();

        loop.running().dropped("c", null, message("a", "x"), DropReason.OFFLINE);

        assertThat(events).isEmpty();
    }

    @Test
    void aClientHasMessagesThatItPublishesAndThatItDoesNotGet() {
        start(new TraceSubject.OfClient("publisher"), 0, events::add);

        loop.running().routed(message("a", "x"), 2);
        loop.running().dropped("other", null, message("a", "x"), DropReason.OFFLINE);
        loop.running().dropped("publisher", null, message("a", "x"), DropReason.QUEUE_COUNT);

        assertThat(events)
                .extracting(TraceEvent::kind)
                .containsExactly(TraceEvent.Kind.ROUTED, TraceEvent.Kind.DROPPED);
        assertThat(events.get(0).details()).containsEntry("matches", 2L);
        assertThat(events.get(1).details()).containsEntry("reason", "queue_count");
    }

    @Test
    void aTopicHasItsMessagesAndTheSubscriptionsThatMeetIt() {
        TraceSubject topic = new TraceSubject.OfTopic(TopicFilter.of("a/+"));

        assertThat(topic.includes("c", null, message("a/b", "").topic(), List.of()))
                .isTrue();
        assertThat(topic.includes("c", null, message("b", "").topic(), List.of()))
                .isFalse();
        assertThat(topic.includes("c", null, null, List.of("x", "a/b"))).isTrue();
        assertThat(topic.includes("c", null, null, List.of("#"))).isTrue();
        assertThat(topic.includes("c", null, null, List.of("$share/g/a/b"))).isTrue();
        assertThat(topic.includes("c", null, null, List.of("$share", "b/#", "a/#/b")))
                .isFalse();
    }

    @Test
    void anAddressIsComparedAsAnAddress() throws Exception {
        TraceSubject local = new TraceSubject.OfAddress(InetAddress.getByName("::1"));

        assertThat(local.includes(null, InetAddress.getByName("0:0:0:0:0:0:0:1"), null, List.of()))
                .isTrue();
        assertThat(local.includes("c", null, null, List.of())).isFalse();
    }

    @Test
    void aPayloadIsHiddenOrCut() {
        start(new TraceSubject.OfTopic(TopicFilter.of("a")), 0, events::add);
        loop.running().routed(message("a", "secret"), 0);
        assertThat(events.get(0).payload()).isEmpty();
        assertThat(events.get(0).payloadSize()).isEqualTo(6);

        start(new TraceSubject.OfTopic(TopicFilter.of("a")), 3, events::add);
        events.clear();
        loop.running().routed(message("a", "secret"), 0);
        assertThat(events).hasSize(2).allMatch(event -> new String(event.payload()).equals("sec"));
    }

    @Test
    void aListenerThatThrowsEndsItsTraceOnly() {
        start(new TraceSubject.OfClient("c"), 0, event -> {
            throw new IllegalStateException("the listener is broken");
        });
        start(new TraceSubject.OfClient("c"), 0, events::add);

        traces.sessionTakenOver("c");
        traces.sessionEnded("c", true);

        assertThat(events).hasSize(2);
        assertThat(events.get(1).details()).containsEntry("expired", true);
    }
}
