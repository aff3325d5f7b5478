// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.AccessConfig;
import io.smqtt.config.AccessConfigBuilder;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.BrokerObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

class PasswordFileAuthenticatorTest {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Authentication REFUSED = new Authentication.Refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
    private static final Authentication BUSY = new Authentication.Refused(ReasonCode.SERVER_BUSY);
    private static final Authentication ALICE = Authentication.accepted("alice");

    private final List<PasswordHash> hashed = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> threads = Collections.synchronizedSet(new HashSet<>());
    private final AtomicLong nanos = new AtomicLong();
    private final PasswordTable users = table(Map.of("alice", 11, "bob", 12));
    private final List<Long> delays = Collections.synchronizedList(new ArrayList<>());
    private final List<Runnable> delayed = Collections.synchronizedList(new ArrayList<>());
    private volatile Runnable duringHash = () -> {};
    private PasswordFileAuthenticator authenticator = authenticator(users, 1, 64);

    @AfterEach
    void close() {
        authenticator.close();
    }

    @Test
    void acceptsTheRightPasswordAndRefusesAllElseAlike() {
        assertThat(login("alice", "alice")).isEqualTo(ALICE);
        assertThat(login("alice", "wrong")).isEqualTo(REFUSED);
        assertThat(login("alice", "bob")).isEqualTo(REFUSED);
        assertThat(login("alice", "")).isEqualTo(REFUSED);
        assertThat(login("alice", null)).isEqualTo(REFUSED);
        assertThat(login("Alice", "alice")).isEqualTo(REFUSED);
        assertThat(login("carol", "alice")).isEqualTo(REFUSED);
        assertThat(login("", "alice")).isEqualTo(REFUSED);
    }

    @Test
    void clientsWithoutUserNameAreForOthers() {
        assertThat(login(null, null)).isEqualTo(Authentication.CONTINUE);
        assertThat(login(null, "alice")).isEqualTo(Authentication.CONTINUE);
    }

    @Test
    void unknownUsersCostTheHashThatAKnownUserCosts() {
        login("alice", "wrong");
        login("carol", "wrong");
        login("carol", "wrong");

        assertThat(hashed).hasSize(3);
        assertThat(hashed.get(1)).isIn(users.find("alice"), users.find("bob")).isSameAs(hashed.get(2));
    }

    @Test
    void unknownUsersAreSpreadOverTheCostsOfKnownOnes() {
        IntStream.range(0, 60).forEach(i -> login("unknown" + i, "wrong"));

        assertThat(hashed).hasSize(60).contains(users.find("alice"), users.find("bob"));
    }

    @Test
    void withoutAnyUserTheWorkIsThatOfANewHash() {
        authenticator.replace(table(Map.of()));

        assertThat(login("carol", "wrong")).isEqualTo(REFUSED);
        assertThat(hashed)
                .singleElement()
                .isInstanceOfSatisfying(
                        PasswordHash.Pbkdf2Sha512.class,
                        hash -> assertThat(hash.iterations()).isEqualTo(PasswordFile.DEFAULT_ITERATIONS));
    }

    @Test
    void aStandInNeverLetsAnybodyIn() {
        IntStream.range(0, 20).forEach(i -> {
            assertThat(login("unknown" + i, "alice")).isEqualTo(REFUSED);
            assertThat(login("unknown" + i, "bob")).isEqualTo(REFUSED);
        });
    }

    @Test
    void passwordsThatNobodyCanHaveAreNotHashed() {
        byte[] nul = "alice\0".getBytes(StandardCharsets.UTF_8);

        assertThat(answer(authenticator, "alice", nul)).isEqualTo(REFUSED);
        assertThat(answer(authenticator, "alice", new byte[61_440])).isEqualTo(REFUSED);
        assertThat(login("alice", "x".repeat(1_025))).isEqualTo(REFUSED);
        assertThat(hashed).isEmpty();
        assertThat(login("alice", "x".repeat(1_024))).isEqualTo(REFUSED);
        assertThat(hashed).hasSize(1);
    }

    @Test
    void hashesOnThreadsOfItsOwn() {
        login("alice", "alice");

        assertThat(threads).containsExactly("smqtt-password-1");
    }

    @Test
    void refusesAsBusyWhenTheQueueIsFullAndGoesOnAfterwards() {
        restart(1, 3);
        CountDownLatch release = blockHashing();
        List<Authentication> answers = Collections.synchronizedList(new ArrayList<>());
        subscribe("alice", answers);
        await().untilAsserted(() -> assertThat(hashed).hasSize(1));

        IntStream.range(0, 5).forEach(i -> subscribe("alice", answers));

        assertThat(answers).containsExactly(BUSY, BUSY);
        release.countDown();
        await().untilAsserted(() -> assertThat(answers).hasSize(6));
        assertThat(answers.subList(2, 6)).containsOnly(ALICE);
    }

    @Test
    void aClientThatLeavesGivesItsPlaceInTheQueueBack() {
        restart(1, 1);
        CountDownLatch release = blockHashing();
        List<Authentication> answers = Collections.synchronizedList(new ArrayList<>());
        subscribe("alice", answers);
        await().untilAsserted(() -> assertThat(hashed).hasSize(1));

        Disposable waiting = subscribe("bob", answers);
        waiting.dispose();
        subscribe("bob", answers);

        assertThat(answers).isEmpty();
        release.countDown();
        await().untilAsserted(() -> assertThat(answers).containsExactly(ALICE, Authentication.accepted("bob")));
        assertThat(hashed).hasSize(2);
    }

    @Test
    void aLoginFromAnotherAddressWaitsForOneTurnOnly() {
        restart(1, 8);
        CountDownLatch release = blockHashing();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        subscribe("192.0.2.7", "eve", order);
        await().untilAsserted(() -> assertThat(hashed).hasSize(1));
        IntStream.range(0, 20).forEach(i -> subscribe("192.0.2.7", "eve", order));
        subscribe("198.51.100.1", "alice", order);

        assertThat(order)
                .as("the queue is full: refused are those who have most in it")
                .hasSize(13);
        assertThat(order).containsOnly("eve SERVER_BUSY");
        release.countDown();
        await().untilAsserted(() -> assertThat(order).hasSize(22));
        assertThat(order.subList(13, 17)).contains("alice ok");
    }

    @Test
    void behindOneAddressAnotherUserWaitsForOneTurnOnly() {
        restart(1, 8);
        CountDownLatch release = blockHashing();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        subscribe("192.0.2.7", "eve", order);
        await().untilAsserted(() -> assertThat(hashed).hasSize(1));
        IntStream.range(0, 20).forEach(i -> subscribe("192.0.2.7", "eve", order));
        subscribe("192.0.2.7", "alice", order);

        release.countDown();
        await().untilAsserted(() -> assertThat(order).hasSize(22));
        assertThat(order.subList(13, 17)).contains("alice ok");
    }

    @Test
    void refusalsOfAnAddressWithManyWrongPasswordsAreDelayedAndRightPasswordsNever() {
        authenticator.close();
        authenticator =
                authenticator(users, AccessConfig.builder().failedLogins(3).failedLoginDelay(Duration.ofMillis(500)));
        List<String> order = Collections.synchronizedList(new ArrayList<>());

        IntStream.range(0, 7).forEach(i -> {
            subscribe("2001:db8:0:1::" + (i + 1), "eve", order);
            await().untilAsserted(
                            () -> assertThat(order.size() + delayed.size()).isEqualTo(i + 1));
        });
        assertThat(order).hasSize(3).containsOnly("eve BAD_USER_NAME_OR_PASSWORD");
        assertThat(delays).containsExactly(100L, 200L, 400L, 500L);
        subscribe("2001:db8:0:1::1", "alice", order);
        await().untilAsserted(() -> assertThat(order).hasSize(4).contains("alice ok"));
        subscribe("2001:db8:0:2::1", "eve", order);
        await().untilAsserted(() -> assertThat(order).hasSize(5));

        delayed.forEach(Runnable::run);
        assertThat(order).hasSize(9);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        subscribe("2001:db8:0:1::1", "eve", order);
        await().untilAsserted(() -> assertThat(order).hasSize(10));
    }

    private Disposable subscribe(String ip, String userName, List<String> order) {
        return authenticator
                .authenticate(Clients.loginFrom(ip, userName, userName))
                .subscribe(answer -> {
                    String outcome = answer instanceof Authentication.Refused refused
                            ? refused.reason().name()
                            : "ok";
                    order.add(userName + ' ' + outcome);
                });
    }

    @Test
    void aRightPasswordIsRememberedForAWhile() {
        assertThat(login("alice", "alice")).isEqualTo(ALICE);
        assertThat(login("alice", "alice")).isEqualTo(ALICE);
        assertThat(hashed).hasSize(1);

        nanos.addAndGet(Duration.ofMinutes(5).toNanos());
        assertThat(login("alice", "alice")).isEqualTo(ALICE);
        assertThat(hashed).hasSize(2);
    }

    @Test
    void wrongPasswordsAreNeverRemembered() {
        login("alice", "alice");
        login("alice", "wrong");
        login("alice", "wrong");

        assertThat(hashed).hasSize(3);
    }

    @Test
    void aReloadForgetsWhatWasRemembered() {
        assertThat(login("alice", "alice")).isEqualTo(ALICE);
        authenticator.replace(table(Map.of("bob", 12)));

        assertThat(login("alice", "alice")).isEqualTo(REFUSED);
        assertThat(login("bob", "bob")).isEqualTo(Authentication.accepted("bob"));
    }

    @Test
    void aUserWhoIsRemovedWhileTheHashIsComputedIsRefused() {
        PasswordTable others = table(Map.of("bob", 12));
        duringHash = () -> authenticator.replace(others);

        assertThat(login("alice", "alice")).isEqualTo(REFUSED);
    }

    @Test
    void aUserWhoIsReloadedUnchangedWhileTheHashIsComputedIsAccepted() {
        String encoded = users.find("alice").encoded();
        duringHash = () -> authenticator.replace(new PasswordTable(Map.of("alice", PasswordHash.parse(encoded))));

        assertThat(login("alice", "alice")).isEqualTo(ALICE);
    }

    @Test
    void aFailureWhileHashingIsAnError() {
        duringHash = () -> {
            throw new IllegalStateException("broken");
        };

        assertThat(new AuthenticatorChain(List.of(authenticator))
                        .authenticate(Clients.login("alice", "alice"))
                        .block(SOON))
                .isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));
    }

    @Test
    void closingRefusesThoseThatWait() {
        CountDownLatch release = blockHashing();
        List<Authentication> answers = Collections.synchronizedList(new ArrayList<>());
        subscribe("alice", answers);
        await().untilAsserted(() -> assertThat(hashed).hasSize(1));
        subscribe("bob", answers);

        authenticator.close();

        assertThat(answers).contains(BUSY);
        assertThat(login("alice", "wrong")).isEqualTo(BUSY);
        release.countDown();
    }

    private CountDownLatch blockHashing() {
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger entered = new AtomicInteger();
        duringHash = () -> {
            if (entered.getAndIncrement() == 0) {
                awaitUninterruptibly(release);
            }
        };
        return release;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                continue;
            }
        }
    }

    private Disposable subscribe(String userName, List<Authentication> answers) {
        return authenticator.authenticate(Clients.login(userName, userName)).subscribe(answers::add);
    }

    private void restart(int threadCount, int queue) {
        authenticator.close();
        authenticator = authenticator(users, threadCount, queue);
    }

    private PasswordFileAuthenticator authenticator(PasswordTable table, int threadCount, int queue) {
        return authenticator(
                table,
                AccessConfig.builder().hashThreads(threadCount).hashQueue(queue).failedLogins(0));
    }

    private PasswordFileAuthenticator authenticator(PasswordTable table, AccessConfigBuilder config) {
        return new PasswordFileAuthenticator(
                table, config.build(), BrokerObserver.NONE, this::verify, nanos::get, (task, millis) -> {
                    delays.add(millis);
                    delayed.add(task);
                    return Disposables.single();
                });
    }

    private boolean verify(PasswordHash hash, byte[] password) {
        hashed.add(hash);
        threads.add(Thread.currentThread().getName());
        duringHash.run();
        return hash.matches(password);
    }

    private @Nullable Authentication login(@Nullable String userName, @Nullable String password) {
        return answer(authenticator, userName, password == null ? null : password.getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable Authentication answer(
            Authenticator authenticator, @Nullable String userName, byte @Nullable [] password) {
        Mono<Authentication> answer = authenticator.authenticate(Clients.login(userName, password));
        return answer.block(SOON);
    }

    /** Users whose password is their name, with the iterations of their hashes. */
    private static PasswordTable table(Map<String, Integer> iterations) {
        Map<String, PasswordHash> hashes = iterations.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        entry -> PasswordHash.Pbkdf2Sha512.of(
                                entry.getKey().getBytes(StandardCharsets.UTF_8), new byte[16], entry.getValue())));
        return new PasswordTable(new HashMap<>(hashes));
    }
}
