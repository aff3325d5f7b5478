// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleActionConfigBuilder;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.http.HttpSinkFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class LaneTest {

    private List<String> batches = new CopyOnWriteArrayList<>();
    private List<String> settled = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();
    private final List<String> failures = new CopyOnWriteArrayList<>();

    private boolean silent = true; // whether the sink may fall silent

    private Lane lane(Function<List<Integer>, Mono<BatchResult>> answer, RuleActionConfigBuilder config) {
        boolean mayFallSilent = silent;
        return lane(
                new Sink() {
                    @Override
                    public Mono<BatchResult> send(List<SinkRecord> batch) {
                        List<Integer> numbers =
                                batch.stream().map(LaneTest::number).toList();
                        batches.add(numbers.toString());
                        return answer.apply(numbers);
                    }

                    @Override
                    public Mono<Void> check() {
                        return Mono.empty();
                    }

                    @Override
                    public boolean mayFallSilent() {
                        return mayFallSilent;
                    }

                    @Override
                    public void close() {}
                },
                config);
    }

    private Lane lane(Sink sink, RuleActionConfigBuilder config) {
        return new Lane(sink, config.build(), new Lane.Outcomes() {
            @Override
            public void succeeded(List<Delivery.Item> items) {
                items.forEach(item -> settled.add(String.valueOf(number(item.record()))));
            }

            @Override
            public void refused(Delivery.Item item, String reason) {
                refused.add(number(item.record()) + " " + reason);
            }

            @Override
            public void failed(String reason, int rows) {
                failures.add(rows + " " + reason);
            }

            @Override
            public void worked() {}
        });
    }

    private static RuleActionConfigBuilder config() {
        return RuleActionConfig.builder("test")
                .batchSize(3)
                .minDelay(Duration.ofMillis(1))
                .maxDelay(Duration.ofMillis(5))
                .timeout(Duration.ofMillis(200));
    }

    private static Integer number(SinkRecord record) {
        return (Integer) record.row().get("n");
    }

    private static void add(Lane lane, int from, int to) {
        ApplicationMessage message = ApplicationMessage.builder("t").build();
        for (int i = from; i <= to; i++) {
            lane.add(new Delivery.Item(new SinkRecord(Map.of("n", i), message), new Delivery(null, 1, 1)));
        }
    }

    private static List<String> numbers(int from, int to) {
        List<String> numbers = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            numbers.add(String.valueOf(i));
        }
        return numbers;
    }

    @Test
    void largeRowsThatFillABatchDoNotWaitForMore() {
        Lane lane = lane(
                batch -> Mono.just(BatchResult.DONE), config().batchSize(100).batchTime(Duration.ofMinutes(1)));
        ApplicationMessage message = ApplicationMessage.builder("t").build();

        for (int i = 1; i <= 4; i++) {
            lane.add(new Delivery.Item(new SinkRecord(Map.of("n", i), message), new Delivery(null, 1, 10 << 20)));
        }

        await().untilAsserted(() -> assertThat(batches).containsExactly("[1]", "[2]", "[3]")); // the last one waits
    }

    @Test
    void answersThatComeAtOnceDoNotDeepenTheStack() {
        batches = new ArrayList<>(); // all happens on this thread, and copies of so many would take seconds
        settled = new ArrayList<>();
        Lane lane = lane(numbers -> Mono.just(BatchResult.DONE), config());

        add(lane, 1, 50_000);

        assertThat(settled).hasSize(50_000).startsWith("1", "2", "3").endsWith("50000");
    }

    @Test
    void batchWaitsForTheOneBeforeAndIsFullThen() {
        List<reactor.core.publisher.MonoSink<BatchResult>> answers = new CopyOnWriteArrayList<>();
        Lane lane = lane(numbers -> Mono.create(answers::add), config().timeout(Duration.ofSeconds(30)));

        add(lane, 1, 5);
        answers.get(0).success(BatchResult.DONE);
        answers.get(1).success(BatchResult.DONE);
        answers.get(2).success(BatchResult.DONE);

        assertThat(batches).containsExactly("[1]", "[2, 3, 4]", "[5]");
        assertThat(settled).isEqualTo(numbers(1, 5));
    }

    @Test
    void batchWaitsForMoreRowsUntilItsTimeIsOver() {
        Lane lane = lane(numbers -> Mono.just(BatchResult.DONE), config().batchTime(Duration.ofMillis(50)));

        add(lane, 1, 2);

        assertThat(batches).isEmpty();
        await().untilAsserted(() -> assertThat(batches).containsExactly("[1, 2]"));
    }

    @Test
    void failedBatchIsSentAgainBeforeAllOthers() {
        Lane lane = lane(
                numbers ->
                        batches.size() < 4 ? Mono.error(new SinkException("down", true)) : Mono.just(BatchResult.DONE),
                config());

        add(lane, 1, 4);

        await().untilAsserted(() -> assertThat(settled).isEqualTo(numbers(1, 4)));
        assertThat(batches).containsExactly("[1]", "[1]", "[1]", "[1]", "[2, 3, 4]");
        assertThat(failures).containsOnly("1 down").hasSize(3);
    }

    @Test
    void missingAnswerIsAFailure() {
        Lane lane = lane(numbers -> batches.size() == 1 ? Mono.never() : Mono.just(BatchResult.DONE), config());

        add(lane, 1, 1);

        await().untilAsserted(() -> assertThat(settled).containsExactly("1"));
        assertThat(failures).containsExactly("1 no answer within 200 ms");
    }

    @Test
    void batchThatIsTooLargeForTheTimeoutIsHalvedUntilASlowSinkAdvances() {
        List<reactor.core.publisher.MonoSink<BatchResult>> first = new CopyOnWriteArrayList<>();
        Lane lane = lane(
                numbers -> numbers.equals(List.of(0))
                        ? Mono.create(first::add)
                        : numbers.size() > 2 ? Mono.never() : Mono.just(BatchResult.DONE),
                config().batchSize(8).timeout(Duration.ofMillis(100)));
        add(lane, 0, 8);
        first.get(0).success(BatchResult.DONE);

        await().untilAsserted(() -> assertThat(settled).isEqualTo(numbers(0, 8)));
        assertThat(batches)
                .startsWith("[0]", "[1, 2, 3, 4, 5, 6, 7, 8]", "[1, 2, 3, 4]", "[1, 2]", "[3, 4, 5]", "[3]", "[4, 5]");
    }

    @Test
    void batchesGrowAgainAfterATimeout() {
        List<reactor.core.publisher.MonoSink<BatchResult>> first = new CopyOnWriteArrayList<>();
        Lane lane = lane(
                numbers -> switch (batches.size()) {
                    case 1 -> Mono.create(first::add);
                    case 2 -> Mono.never();
                    default -> Mono.just(BatchResult.DONE);
                },
                config().timeout(Duration.ofSeconds(1)));
        add(lane, 1, 10);
        first.get(0).success(BatchResult.DONE);

        await().untilAsserted(() -> assertThat(settled).isEqualTo(numbers(1, 10)));
        assertThat(batches).containsExactly("[1]", "[2, 3, 4]", "[2]", "[3, 4]", "[5, 6, 7]", "[8, 9, 10]");
    }

    @Test
    void answerOfASinkThatCannotFallSilentIsAwaited() {
        List<reactor.core.publisher.MonoSink<BatchResult>> answers = new CopyOnWriteArrayList<>();
        silent = false;
        Lane patient = lane(numbers -> Mono.create(answers::add), config().timeout(Duration.ofMillis(10)));
        add(patient, 1, 1);
        silent = true;
        Lane other = lane(numbers -> Mono.never(), config().timeout(Duration.ofMillis(10)));
        add(other, 2, 2);

        await().until(() -> failures.size() >= 5); // of the other one, whose timeouts have begun later
        other.close();
        answers.get(0).success(BatchResult.DONE);

        assertThat(settled).containsExactly("1");
        assertThat(batches).containsOnlyOnce("[1]");
    }

    /** The requests before one without an answer are not sent again. */
    @Test
    void rowsThatAnHttpServerHasAreNotSentAgain() throws Exception {
        CountDownLatch added = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        List<Integer> requests = new CopyOnWriteArrayList<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                int number = Integer.parseInt(body.replaceAll("\\D", ""));
                requests.add(number);
                if (number == 0) {
                    added.await();
                } else if (number == 4 && requests.indexOf(4) == requests.lastIndexOf(4)) {
                    over.await();
                }
                exchange.sendResponseHeaders(200, -1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        HttpSinkFactory http = new HttpSinkFactory();
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
        try (Sink sink = http.open(SinkContract.context(http, message -> Mono.empty(), null, "url", url))) {
            Lane lane = lane(sink, config().batchSize(100).timeout(Duration.ofSeconds(2)));
            add(lane, 0, 6);
            added.countDown();

            await().untilAsserted(() -> assertThat(settled).isEqualTo(numbers(0, 6)));
            assertThat(requests.stream().filter(number -> number > 0)).containsExactly(1, 2, 3, 4, 4, 5, 6);
        } finally {
            over.countDown();
            server.stop(0);
            threads.shutdownNow();
        }
    }

    /** As with an extension that lacks a class: Reactor throws such an error. */
    @Test
    void sinkThatThrowsAnErrorIsAskedAgain() {
        Lane lane = lane(
                numbers -> {
                    if (batches.size() < 3) {
                        throw new NoClassDefFoundError("com/example/Missing");
                    }
                    return Mono.just(BatchResult.DONE).delayElement(Duration.ofMillis(250)); // past the first timeouts
                },
                config().timeout(Duration.ofMillis(300))
                        .minDelay(Duration.ofMillis(20))
                        .maxDelay(Duration.ofMillis(30)));

        add(lane, 1, 4);

        await().untilAsserted(() -> assertThat(settled).isEqualTo(numbers(1, 4)));
        assertThat(batches).containsExactly("[1]", "[1]", "[1]", "[2, 3, 4]");
        assertThat(failures).containsOnly("1 java.lang.NoClassDefFoundError: com/example/Missing");
    }

    @Test
    void onlyTheRowThatIsRefusedIsGivenUp() {
        List<reactor.core.publisher.MonoSink<BatchResult>> first = new CopyOnWriteArrayList<>();
        Lane lane = lane(
                numbers -> numbers.equals(List.of(1))
                        ? Mono.create(first::add)
                        : numbers.contains(3)
                                ? Mono.error(new SinkException("not that one", false))
                                : Mono.just(BatchResult.DONE),
                config().timeout(Duration.ofSeconds(30)));

        add(lane, 1, 7);
        first.get(0).success(BatchResult.DONE);

        assertThat(refused).containsExactly("3 not that one");
        assertThat(settled).containsExactly("1", "2", "4", "5", "6", "7");
        assertThat(batches).containsExactly("[1]", "[2, 3, 4]", "[2]", "[3]", "[4]", "[5, 6, 7]");
    }

    @Test
    void rowsThatFailedInABatchAreSentAgain() {
        Lane lane = lane(
                numbers -> numbers.equals(List.of(2, 3, 4))
                        ? Mono.just(
                                new BatchResult(List.of(new Refusal(1, "later", true), new Refusal(2, "never", false))))
                        : Mono.just(BatchResult.DONE).delayElement(Duration.ofMillis(20)),
                config());

        add(lane, 1, 4);

        await().untilAsserted(() -> assertThat(settled).containsExactly("1", "2", "3"));
        assertThat(refused).containsExactly("4 never");
        assertThat(batches).containsExactly("[1]", "[2, 3, 4]", "[3]");
    }

    @Test
    void rowForWhichTheSinkThrowsAgainAndAgainIsFoundAndGivenUp() {
        List<reactor.core.publisher.MonoSink<BatchResult>> first = new CopyOnWriteArrayList<>();
        Lane lane = lane(
                numbers -> {
                    if (numbers.contains(3)) {
                        throw new IllegalStateException("a mistake");
                    }
                    return numbers.equals(List.of(0)) ? Mono.create(first::add) : Mono.just(BatchResult.DONE);
                },
                config().batchSize(8).timeout(Duration.ofSeconds(30)));
        add(lane, 0, 8);
        first.get(0).success(BatchResult.DONE);

        await().untilAsserted(() -> assertThat(settled).containsExactly("0", "1", "2", "4", "5", "6", "7", "8"));
        assertThat(refused).containsExactly("3 a mistake");
        assertThat(batches)
                .startsWith("[0]", "[1, 2, 3, 4, 5, 6, 7, 8]", "[1, 2, 3, 4]", "[1, 2]", "[3, 4, 5]", "[3]", "[3]");
        assertThat(batches.stream().filter("[3]"::equals)).hasSize(Lane.MOST_UNEXPECTED);
    }

    @Test
    void exceptionsOfInputAndOutputAreNoFaultOfARow() {
        Lane lane = lane(
                numbers -> batches.size() <= 2 * Lane.MOST_UNEXPECTED
                        ? Mono.error(new java.io.UncheckedIOException(new java.io.IOException("reset")))
                        : Mono.just(BatchResult.DONE),
                config());

        add(lane, 1, 1);

        await().untilAsserted(() -> assertThat(settled).containsExactly("1"));
        assertThat(refused).isEmpty();
    }

    @Test
    void rowsAreGivenUpWhenTheTimeForAttemptsIsOver() {
        Lane lane = lane(
                numbers -> Mono.error(new IllegalStateException("down")), config().retryFor(Duration.ofMillis(30)));

        add(lane, 1, 1);

        await().untilAsserted(() -> assertThat(refused).containsExactly("1 down"));
        assertThat(failures).isNotEmpty();
    }

    @Test
    void rowThatTheSinkHasIsNoDeadLetterWhenTheTimeIsOver() {
        BatchResult overtaken =
                new BatchResult(List.of(new Refusal(0, "expired", true), new Refusal(1, "overtaken", true, true)));
        Lane lane = lane(
                numbers -> numbers.equals(List.of(1))
                        ? Mono.just(BatchResult.DONE).delayElement(Duration.ofMillis(20))
                        : Mono.just(overtaken),
                config().retryFor(Duration.ofMillis(30)));

        add(lane, 1, 3);

        await().untilAsserted(() -> assertThat(refused).containsExactly("2 expired"));
        assertThat(settled).containsExactly("1", "3");
        assertThat(failures).contains("2 overtaken");
    }

    @Test
    void checkThatHasNoAnswerSaysSo() {
        Sink silent = new Sink() {
            @Override
            public Mono<BatchResult> send(List<SinkRecord> batch) {
                return Mono.never();
            }

            @Override
            public Mono<Void> check() {
                return Mono.never();
            }

            @Override
            public void close() {}
        };

        assertThat(RuleAction.check(
                                silent, config().timeout(Duration.ofMillis(20)).build())
                        .block())
                .isEqualTo("no answer within 20 ms");
    }

    @Test
    void closedLaneGivesBackWhatIsNotSettled() {
        Lane lane = lane(numbers -> Mono.never(), config().timeout(Duration.ofSeconds(30)));
        add(lane, 1, 5);

        List<Delivery.Item> rest = lane.close();
        add(lane, 6, 6);

        assertThat(rest).extracting(item -> number(item.record())).containsExactly(1, 2, 3, 4, 5);
        assertThat(batches).containsExactly("[1]");
    }

    @Test
    void timesBetweenAttemptsGrowAndStayInTheirBounds() {
        Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(2), new java.util.Random(7));
        List<Duration> times = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            times.add(backoff.next());
        }

        assertThat(times).allMatch(time -> time.toMillis() >= 100 && time.toMillis() <= 2_000);
        assertThat(times.get(0)).isLessThanOrEqualTo(Duration.ofMillis(300));
        assertThat(times.stream().distinct().count()).isGreaterThan(50);
        backoff.reset();
        assertThat(backoff.next()).isLessThanOrEqualTo(Duration.ofMillis(300));
    }
}
