// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.test.ManualTicker;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class GuardTest {

    private static final BackendAnswer ALLOW = new BackendAnswer.Allow();

    private final ManualTicker ticker = new ManualTicker();
    private final Counts counts = new Counts();
    private final List<Sinks.One<BackendAnswer>> requests = new ArrayList<>();
    private final Supplier<Mono<BackendAnswer>> backend = () -> {
        Sinks.One<BackendAnswer> answer = Sinks.one();
        requests.add(answer);
        return answer.asMono();
    };

    private static final class Counts implements LifecycleObserver {

        final Map<BackendOutcome, Integer> outcomes = new EnumMap<>(BackendOutcome.class);
        final ConcurrentLinkedQueue<Boolean> working = new ConcurrentLinkedQueue<>();

        @Override
        public synchronized void backendAnswered(String backend, BackendOutcome outcome, long nanos) {
            outcomes.merge(outcome, 1, Integer::sum);
        }

        @Override
        public void backendWorking(String backend, boolean now) {
            working.add(now);
        }
    }

    private Guard guard(int concurrent, int waiting, Duration timeout) {
        AccessBackendConfig config = AccessBackendConfig.builder("http")
                .maxConcurrent(concurrent)
                .maxWaiting(waiting)
                .timeout(timeout)
                .build();
        return new Guard("web", config, ticker, counts);
    }

    private static BackendRequest client(String user, String password) {
        return client(user, password, 4711);
    }

    private static BackendRequest client(String user, String password, int port) {
        return new BackendRequest(
                "c",
                user,
                password.getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.7", port),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
    }

    private List<Object> ask(Guard guard, String user, String password) {
        List<Object> answers = new ArrayList<>();
        guard.ask("user", client(user, password), backend).subscribe(answers::add, answers::add);
        return answers;
    }

    @Test
    void equalRequestsAreMadeOnceAndAnswersUsedAgain() {
        Guard guard = guard(8, 8, Duration.ofSeconds(5));
        List<Object> first = ask(guard, "ann", "x");
        List<Object> second = ask(guard, "ann", "x");
        List<Object> other = ask(guard, "ann", "y");

        assertThat(requests).hasSize(2);
        requests.get(0).tryEmitValue(ALLOW);
        requests.get(1).tryEmitValue(BackendAnswer.DENY);

        assertThat(first).containsExactly(ALLOW);
        assertThat(second).containsExactly(ALLOW);
        assertThat(other).containsExactly(BackendAnswer.DENY);
        assertThat(ask(guard, "ann", "x")).containsExactly(ALLOW);
        assertThat(ask(guard, "ann", "y")).containsExactly(BackendAnswer.DENY);
        assertThat(requests).hasSize(2);
        assertThat(counts.outcomes)
                .containsEntry(BackendOutcome.ANSWERED, 2)
                .containsEntry(BackendOutcome.SHARED, 1)
                .containsEntry(BackendOutcome.CACHED, 2);
    }

    @Test
    void answersThatAreComputedInMemoryAreCountedAndNothingElse() {
        Guard guard = guard(1, 0, Duration.ofSeconds(5));
        for (int i = 0; i < 3; i++) {
            assertThat(guard.count(() -> Mono.just(ALLOW)).block()).isEqualTo(ALLOW);
        }
        for (int i = 0; i < 30; i++) {
            assertThatThrownBy(() -> guard.count(() -> Mono.error(new IllegalStateException("bug")))
                            .block())
                    .hasMessage("bug");
        }
        assertThatThrownBy(() -> guard.count(() -> Mono.error(new BackendBusyException("full", false)))
                        .block())
                .isInstanceOf(BackendBusyException.class);
        assertThatThrownBy(() -> guard.count(() -> Mono.error(new ClientRefusedException("no")))
                        .block())
                .isInstanceOf(ClientRefusedException.class);
        assertThatThrownBy(() ->
                        guard.count(() -> Mono.error(new TimeoutException())).block())
                .hasCauseInstanceOf(TimeoutException.class);

        assertThat(guard.isWorking()).isTrue();
        assertThat(guard.clear()).isZero();
        assertThat(counts.outcomes)
                .isEqualTo(Map.of(
                        BackendOutcome.ANSWERED,
                        4,
                        BackendOutcome.FAILED,
                        30,
                        BackendOutcome.TIMED_OUT,
                        1,
                        BackendOutcome.REFUSED_FULL,
                        1));
    }

    @Test
    void connectionsOfOneClientShareAnAnswerUnlessTheRequestHasTheirPort() {
        Map<String, ConfigValue> settings = Map.of(
                "body.port", new ConfigValue("p-${peerport}", "", Path.of("")),
                "url", new ConfigValue(null, "", Path.of("")));
        Guard byPort = new Guard(
                "users", AccessBackendConfig.builder("x").settings(settings).build(), ticker, counts);
        for (int port : new int[] {1, 2, 1}) {
            byPort.ask("user", client("ann", "x", port), backend).subscribe();
        }
        assertThat(requests).hasSize(2);

        Guard others = guard(8, 8, Duration.ofSeconds(5));
        others.ask("user", client("ann", "x", 1), backend).subscribe();
        others.ask("user", client("ann", "x", 2), backend).subscribe();
        assertThat(requests).hasSize(3);
    }

    @Test
    void refusalsAreForgottenSoonerThanOtherAnswers() {
        Guard guard = guard(8, 8, Duration.ofSeconds(5));
        ask(guard, "ann", "x");
        ask(guard, "ann", "y");
        requests.get(0).tryEmitValue(ALLOW);
        requests.get(1).tryEmitValue(BackendAnswer.DENY);

        ticker.advance(Duration.ofSeconds(7));
        ask(guard, "ann", "x");
        assertThat(requests).hasSize(2);
        ask(guard, "ann", "y");
        assertThat(requests).hasSize(3);

        ticker.advance(Duration.ofSeconds(67));
        ask(guard, "ann", "x");
        assertThat(requests).hasSize(4);
    }

    @Test
    void anAnswerThatHasExpiredIsNotUsedAgain() {
        Guard guard = guard(8, 8, Duration.ofSeconds(5));
        ask(guard, "ann", "x");
        requests.get(0).tryEmitValue(new BackendAnswer.Allow(false, Map.of(), Instant.EPOCH, null));

        ask(guard, "ann", "x");

        assertThat(requests).hasSize(2);
    }

    /** Else an answer from before a change would be used after it. */
    @Test
    void anAnswerToARequestFromBeforeIsNotUsedAgain() {
        Guard guard = guard(8, 8, Duration.ofSeconds(5));
        List<Object> before = ask(guard, "ann", "x");

        guard.clear();
        List<Object> after = ask(guard, "ann", "x");
        assertThat(requests).hasSize(2);
        requests.get(1).tryEmitValue(BackendAnswer.DENY);
        requests.get(0).tryEmitValue(ALLOW);
        assertThat(before).containsExactly(ALLOW);
        assertThat(after).containsExactly(BackendAnswer.DENY);

        assertThat(ask(guard, "ann", "x")).as("of the later request").containsExactly(BackendAnswer.DENY);
        assertThat(requests).hasSize(2);
    }

    @Test
    void clearedAnswersAreRequestedAgain() {
        Guard guard = guard(8, 8, Duration.ofSeconds(5));
        ask(guard, "ann", "x");
        requests.get(0).tryEmitValue(ALLOW);

        assertThat(guard.clear()).isEqualTo(1);
        ask(guard, "ann", "x");

        assertThat(requests).hasSize(2);
    }

    @Test
    void noMoreRequestsThanAllowedAreInFlightAndTheRestWaitsOrIsRefused() {
        Guard guard = guard(2, 1, Duration.ofSeconds(5));
        List<List<Object>> answers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            answers.add(ask(guard, "u" + i, "x"));
        }

        assertThat(requests).hasSize(2);
        assertThat(answers.get(3))
                .singleElement()
                .isInstanceOfSatisfying(
                        BackendBusyException.class, e -> assertThat(e.isDown()).isFalse());
        requests.get(0).tryEmitValue(ALLOW);
        assertThat(requests).hasSize(3);
        requests.get(1).tryEmitValue(ALLOW);
        requests.get(2).tryEmitValue(ALLOW);
        assertThat(answers.get(2)).containsExactly(ALLOW);
        assertThat(counts.outcomes).containsEntry(BackendOutcome.REFUSED_FULL, 1);
    }

    @Test
    void aWaitingRequestOfAClientThatHasGoneIsNotMade() {
        Guard guard = guard(1, 5, Duration.ofSeconds(5));
        ask(guard, "ann", "x");
        Disposable gone = guard.ask("user", client("bob", "x"), backend).subscribe();
        gone.dispose();

        requests.get(0).tryEmitValue(ALLOW);

        assertThat(requests).hasSize(1);
        ask(guard, "bob", "x");
        assertThat(requests).hasSize(2);
    }

    @Test
    void requestsAreMadeInTheirOrder() {
        assertThat(turns(Duration.ofMillis(100))).containsExactly("first", "second", "third", "fourth");
    }

    @Test
    void theNewestIsAskedAboutFirstWhileTheOldestHasWaitedForLong() {
        assertThat(turns(Duration.ofMillis(400))).containsExactly("first", "fourth", "third", "second");
    }

    /** In which order clients that came at intervals are asked about. */
    private List<String> turns(Duration interval) {
        Guard guard = guard(1, 5, Duration.ofSeconds(5));
        List<String> turns = new ArrayList<>();
        for (String user : List.of("first", "second", "third", "fourth")) {
            guard.ask("user", client(user, "x"), backend).subscribe(answer -> turns.add(user));
            ticker.advance(interval);
        }
        for (int i = 0; i < 4; i++) {
            requests.get(i).tryEmitValue(ALLOW);
        }
        return turns;
    }

    @Test
    void clientsThatHaveGoneMakeRoomForOthers() {
        Guard guard = guard(1, 1, Duration.ofSeconds(5));
        ask(guard, "ann", "x");
        List<Object> gone = new ArrayList<>();
        guard.ask("user", client("bob", "x"), backend)
                .subscribe(gone::add, gone::add)
                .dispose();
        List<Object> next = ask(guard, "carol", "x");
        List<Object> further = ask(guard, "dan", "x");

        requests.get(0).tryEmitValue(ALLOW);
        requests.get(1).tryEmitValue(ALLOW);

        assertThat(next).containsExactly(ALLOW);
        assertThat(gone).isEmpty();
        assertThat(further).singleElement().isInstanceOf(BackendBusyException.class);
        assertThat(requests).hasSize(2);
    }

    @Test
    void aRequestEndsAtItsDeadline() {
        Guard guard = guard(1, 5, Duration.ofMillis(20));

        assertThatThrownBy(() -> guard.ask("user", client("ann", "x"), backend).block(Duration.ofSeconds(20)))
                .hasCauseInstanceOf(TimeoutException.class);
        assertThat(counts.outcomes).containsEntry(BackendOutcome.TIMED_OUT, 1);
    }

    @Test
    void aBackendThatFailsIsLeftAloneUntilOneRequestTriesIt() {
        Guard guard = guard(1, 1000, Duration.ofSeconds(5));
        for (int i = 0; i < 5; i++) {
            ask(guard, "u" + i, "x");
            requests.get(i).tryEmitError(new IllegalStateException("refused"));
        }

        List<Object> refused = ask(guard, "v", "x");
        assertThat(refused)
                .singleElement()
                .isInstanceOfSatisfying(
                        BackendBusyException.class, e -> assertThat(e.isDown()).isTrue());
        assertThat(guard.isWorking()).isFalse();
        assertThat(requests).hasSize(5);

        await().atMost(Duration.ofSeconds(30)).until(() -> {
            ask(guard, "w", "x");
            return requests.size() == 6;
        });
        requests.get(5).tryEmitValue(ALLOW);
        assertThat(guard.isWorking()).isTrue();
        assertThat(counts.working).startsWith(true, false).endsWith(true);
    }

    @Test
    void clientsThatAreRefusedAreNoFailuresOfTheBackend() {
        Guard guard = guard(1, 1000, Duration.ofSeconds(5));
        for (int i = 0; i < 40; i++) {
            List<Object> answer = ask(guard, "u" + i, "x");
            requests.get(i).tryEmitError(new ClientRefusedException("a value that fits no column"));
            assertThat(answer).singleElement().isInstanceOf(ClientRefusedException.class);
        }

        List<Object> other = ask(guard, "ann", "x");
        requests.get(40).tryEmitValue(ALLOW);

        assertThat(other).containsExactly(ALLOW);
        assertThat(guard.isWorking()).isTrue();
        assertThat(counts.outcomes).isEqualTo(Map.of(BackendOutcome.ANSWERED, 41));
    }

    @Test
    void aRefusedClientDoesNotEndTheTrialOfABackendThatHasFailed() {
        Guard guard = guard(1, 1000, Duration.ofSeconds(5));
        for (int i = 0; i < 5; i++) {
            ask(guard, "u" + i, "x");
            requests.get(i).tryEmitError(new IllegalStateException("refused"));
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            ask(guard, "v", "x");
            return requests.size() == 6;
        });
        requests.get(5).tryEmitError(new ClientRefusedException("a value that fits no column"));

        ask(guard, "w", "x");
        requests.get(6).tryEmitValue(ALLOW);

        assertThat(guard.isWorking()).isTrue();
    }

    @Test
    void manyWaitingRequestsAreRefusedTogetherWithoutRecursion() {
        Guard guard = guard(5, 100_000, Duration.ofSeconds(5));
        List<List<Object>> answers = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            answers.add(ask(guard, "u" + i, "x"));
        }

        for (int i = 0; i < 5; i++) {
            requests.get(i).tryEmitError(new IllegalStateException("refused"));
        }
        while (answers.stream().anyMatch(List::isEmpty)) {
            new ArrayList<>(requests).forEach(request -> request.tryEmitError(new IllegalStateException("refused")));
        }

        assertThat(answers).allSatisfy(answer -> assertThat(answer).hasSize(1));
        assertThat(requests).hasSizeLessThan(100);
    }
}
