// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.smqtt.BrokerModule;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.account.Accounts.LoggedIn;
import io.smqtt.admin.account.Accounts.LoginRefusedException;
import io.smqtt.admin.account.Accounts.NewKey;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectRefusedException;
import io.smqtt.test.TestBroker;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

@Timeout(120)
class AccountsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String PASSWORD = "correct horse";
    private static final Caller ALICE = new Caller("alice", Role.VIEWER, Caller.Kind.USER);

    private final AtomicLong nanos = new AtomicLong();
    private final LiveObjects objects = new LiveObjects();
    private final Accounts accounts = new Accounts(
            objects, nanos::get, () -> Instant.ofEpochSecond(1_000_000).plusNanos(nanos.get()), 10);
    private final InetAddress here = address("192.0.2.1");
    private TestBroker broker;

    @BeforeEach
    void start() {
        BrokerModule module = new BrokerModule() {
            @Override
            public Mono<Void> start(Core core) {
                return objects.start(core);
            }

            @Override
            public Mono<Void> stop() {
                return Mono.fromRunnable(objects::stop);
            }
        };
        broker = TestBroker.builder().parts(parts -> parts.module(module)).start();
    }

    @AfterEach
    void stop() {
        broker.close();
        accounts.close();
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private void create(String name, Role role) {
        accounts.createUser(name, PASSWORD, role, "", "test").block(PATIENCE);
    }

    private LoggedIn login(String name, String password, InetAddress from) {
        return Objects.requireNonNull(
                accounts.login(name, password, LoginSource.of(from)).block(PATIENCE));
    }

    private Callers.Refusal refused(String name, String password, InetAddress from) {
        return Objects.requireNonNull(
                        catchThrowableOfType(LoginRefusedException.class, () -> login(name, password, from)))
                .refusal();
    }

    private @Nullable Role roleOf(String token) {
        Caller caller = accounts.byToken(token);
        return caller == null ? null : caller.role();
    }

    @Test
    void aUserLogsInAndOut() {
        create("alice", Role.OPERATOR);

        LoggedIn login = login("alice", PASSWORD, here);
        assertThat(accounts.byToken(login.token())).isEqualTo(new Caller("alice", Role.OPERATOR, Caller.Kind.USER));
        assertThat(login.first()).isFalse();
        assertThat(accounts.byToken(login.token() + "x")).isNull();
        assertThat(accounts.logout(login.token())).isTrue();
        assertThat(accounts.byToken(login.token())).isNull();
        assertThat(accounts.logout(login.token())).isFalse();
        assertThat(login).hasToString("LoggedIn[role=OPERATOR]");
    }

    @Test
    void aTokenEndsAfterAnHourWithoutARequest() {
        create("alice", Role.VIEWER);
        LoggedIn login = login("alice", PASSWORD, here);

        nanos.addAndGet(Duration.ofMinutes(59).toNanos());
        assertThat(roleOf(login.token())).isEqualTo(Role.VIEWER);
        nanos.addAndGet(Duration.ofMinutes(59).toNanos());
        assertThat(roleOf(login.token())).isEqualTo(Role.VIEWER);
        nanos.addAndGet(Duration.ofMinutes(61).toNanos());
        assertThat(roleOf(login.token())).isNull();
    }

    @Test
    void aTokenHasThePresentRoleAndEndsWithThePassword() {
        create("root", Role.ADMINISTRATOR);
        create("alice", Role.VIEWER);
        LoggedIn login = login("alice", PASSWORD, here);
        User before = Objects.requireNonNull(accounts.users().get("alice")).value();

        accounts.users()
                .put("alice", new User(before.passwordHash(), Role.OPERATOR, ""), Expected.SOMETHING, "test")
                .block(PATIENCE);
        assertThat(roleOf(login.token())).isEqualTo(Role.OPERATOR);
        accounts.changePassword("alice", PASSWORD, "another one", ALICE).block(PATIENCE);
        assertThat(roleOf(login.token())).isNull();
        assertThat(roleOf(login("alice", "another one", here).token())).isEqualTo(Role.OPERATOR);
        accounts.users().delete("alice", Expected.ANYTHING, "test").block(PATIENCE);
        assertThat(refused("alice", "another one", here).status()).isEqualTo(401);
    }

    /** An administrator deletes the user after the old password was verified, and before the new one is hashed. */
    @Test
    void aDeletedUserDoesNotComeBackWithANewPassword() {
        create("root", Role.ADMINISTRATOR);
        create("alice", Role.VIEWER);
        CountDownLatch queued = new CountDownLatch(1);
        accounts.hashed(PASSWORD)
                .doOnNext(hash -> awaitUninterruptibly(queued)) // on the one thread that hashes
                .subscribe();
        CompletableFuture<Void> change =
                accounts.changePassword("alice", PASSWORD, "another one", ALICE).toFuture();
        accounts.hashed(PASSWORD)
                .doOnNext(hash -> accounts.users()
                        .delete("alice", Expected.ANYTHING, "test")
                        .block(PATIENCE))
                .subscribe();
        queued.countDown();

        assertThat(change).failsWithin(PATIENCE);
        assertThat(accounts.users().get("alice")).isNull();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aUserWaitsAtAnAddressAfterFiveWrongLogins() {
        create("alice", Role.VIEWER);
        create("bob", Role.VIEWER);
        for (int i = 0; i < 5; i++) {
            assertThat(refused("alice", "wrong", here).code()).isEqualTo("BAD_USERNAME_OR_PWD");
            if (i < 4) {
                login("alice", PASSWORD, here); // ends nothing
            }
        }

        assertThat(refused("alice", PASSWORD, here))
                .isEqualTo(new Callers.Refusal(
                        429, "LOGIN_LOCKED", "too many wrong logins; wait", Duration.ofSeconds(61)));
        login("alice", PASSWORD, address("192.0.2.2"));
        login("bob", PASSWORD, here);
        nanos.addAndGet(Duration.ofSeconds(62).toNanos());
        assertThat(refused("alice", "wrong", here).status()).isEqualTo(401);
        assertThat(refused("alice", PASSWORD, here).retryAfter()).isEqualTo(Duration.ofSeconds(121));
        nanos.addAndGet(Duration.ofSeconds(122).toNanos());
        login("alice", PASSWORD, here);
        login("alice", PASSWORD, here);
        assertThat(refused("alice", "wrong", here).status()).isEqualTo(401);
        assertThat(refused("alice", PASSWORD, here).retryAfter()).isEqualTo(Duration.ofSeconds(241));
        nanos.addAndGet(Duration.ofMinutes(16).toNanos());
        assertThat(refused("alice", "wrong", here).status()).isEqualTo(401);
        login("alice", PASSWORD, here);
    }

    /** Behind a proxy all have one address. */
    @Test
    void anAddressWaitsAfterFiftyWrongLoginsButNotWhoHasLoggedInThere() {
        create("alice", Role.VIEWER);
        create("bob", Role.VIEWER);
        login("alice", PASSWORD, here);
        for (int i = 0; i < 50; i++) {
            assertThat(refused("nobody" + i, "wrong", here).status()).isEqualTo(401);
        }
        assertThat(refused("nobody", "wrong", here).status()).isEqualTo(429);
        login("alice", PASSWORD, here);
        assertThat(refused("nobody", "wrong", here).status())
                .as("a login of another user does not end the wait")
                .isEqualTo(429);
        assertThat(refused("bob", PASSWORD, here).status()).isEqualTo(429);
        login("alice", PASSWORD, here);
        login("bob", PASSWORD, address("192.0.2.2"));
    }

    @Test
    void aUserWaitsAfterAHundredWrongLoginsOfManyAddressesButNotWhereHeHasLoggedIn() {
        create("alice", Role.VIEWER);
        login("alice", PASSWORD, here);
        for (int i = 0; i < 100; i++) {
            assertThat(refused("alice", "wrong", address("198.51.100." + i)).status())
                    .isEqualTo(401);
        }
        assertThat(refused("alice", PASSWORD, address("203.0.113.1")).status()).isEqualTo(429);
        login("alice", PASSWORD, here);
        nanos.addAndGet(Duration.ofSeconds(62).toNanos());
        login("alice", PASSWORD, address("203.0.113.1"));
    }

    /** Who tries the name of a user behind the same proxy. */
    @Test
    void nobodyElseMakesAUserWaitOnADeviceWhereHeHasLoggedIn() {
        create("alice", Role.VIEWER);
        create("bob", Role.VIEWER);
        String device = onDevice("alice", PASSWORD, "").device();
        assertThat(login("alice", PASSWORD, here).device()).as("not asked for").isNull();
        for (int i = 0; i < 5; i++) {
            refused("alice", "wrong", here);
        }
        assertThat(refused("alice", PASSWORD, here).status()).isEqualTo(429);

        assertThat(onDevice("alice", PASSWORD, device).device()).isEqualTo(device);
        assertThatThrownBy(() -> onDevice("alice", PASSWORD, "guessed")).hasMessageContaining("wait");
        String bobs = onDevice("bob", PASSWORD, device).device();
        assertThat(bobs).as("a device of another user").isNotEqualTo(device);
        assertThatThrownBy(() -> onDevice("alice", PASSWORD, bobs)).hasMessageContaining("wait");
        accounts.changePassword("alice", PASSWORD, "another one", ALICE).block(PATIENCE);
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> onDevice("alice", "wrong", device)).hasMessageContaining("wrong");
        }
        assertThatThrownBy(() -> onDevice("alice", "another one", device)).hasMessageContaining("wait");
        assertThat(login("alice", "another one", address("192.0.2.2")).role()).isEqualTo(Role.VIEWER);
    }

    private LoggedIn onDevice(String name, String password, @Nullable String device) {
        return Objects.requireNonNull(
                accounts.login(name, password, new LoginSource(here, device)).block(PATIENCE));
    }

    @Test
    void aNetworkOfIpv6WaitsAsOneAddress() {
        for (int i = 0; i < 5; i++) {
            refused("nobody", "wrong", address("2001:db8::" + i));
        }
        assertThat(refused("nobody", "wrong", address("2001:db8::1:2:3:4")).status())
                .isEqualTo(429);
        assertThat(refused("nobody", "wrong", address("2001:db8:0:1::1")).status())
                .isEqualTo(401);
    }

    /** Two administrators on the two sides of a partition can delete each other, and a disk can be lost. */
    @Test
    void theFirstPasswordIsNotValidAgainWhenThereAreNoUsersLater() {
        accounts.printFirstPassword();
        String first = Objects.requireNonNull(accounts.firstPassword());
        LoggedIn login = login("admin", first, here);
        create("alice", Role.VIEWER);
        assertThat(roleOf(login.token())).isNull();
        accounts.users().delete("alice", Expected.ANYTHING, "test").block(PATIENCE);

        assertThat(accounts.users().list()).isEmpty();
        assertThat(refused("admin", first, here).status()).isEqualTo(401);
        assertThat(roleOf(login.token())).isNull();
    }

    @Test
    void theFirstPasswordIsValidUntilThereIsAUser() {
        assertThat(refused("admin", "", here).status()).isEqualTo(401);
        accounts.printFirstPassword();
        String first = Objects.requireNonNull(accounts.firstPassword());

        LoggedIn login = login("admin", first, here);
        assertThat(login.first()).isTrue();
        assertThat(roleOf(login.token())).isEqualTo(Role.ADMINISTRATOR);
        assertThat(refused("root", first, here).status()).isEqualTo(401);
        accounts.changePassword("admin", first, PASSWORD, ALICE).block(PATIENCE);

        assertThat(roleOf(login.token())).isNull();
        assertThat(refused("admin", first, here).status()).isEqualTo(401);
        assertThat(roleOf(login("admin", PASSWORD, here).token())).isEqualTo(Role.ADMINISTRATOR);
        assertThat(accounts.firstPassword()).isNull();
    }

    @Test
    void theLastAdministratorStays() {
        create("root", Role.ADMINISTRATOR);
        create("alice", Role.VIEWER);
        User root = Objects.requireNonNull(accounts.users().get("root")).value();

        assertThatThrownBy(() -> accounts.users()
                        .delete("root", Expected.ANYTHING, "test")
                        .block(PATIENCE))
                .isInstanceOf(ObjectRefusedException.class)
                .hasMessage("the last administrator stays");
        assertThatThrownBy(() -> accounts.users()
                        .put("root", new User(root.passwordHash(), Role.VIEWER, ""), Expected.SOMETHING, "test")
                        .block(PATIENCE))
                .isInstanceOf(ObjectRefusedException.class);
        create("other", Role.ADMINISTRATOR);
        accounts.users().delete("root", Expected.ANYTHING, "test").block(PATIENCE);
    }

    @Test
    void namesAndPasswordsAreChecked() {
        for (String name : List.of("", "a b", "a/b", "-a", "x".repeat(101), "ü")) {
            assertThatThrownBy(() -> create(name, Role.VIEWER)).isInstanceOf(InvalidFieldException.class);
        }
        for (String password : List.of("", "short", "x".repeat(1_025), "with a \0 nul")) {
            assertThatThrownBy(() -> accounts.createUser("a", password, Role.VIEWER, "", "test")
                            .block(PATIENCE))
                    .isInstanceOf(InvalidFieldException.class);
        }
    }

    @Test
    void anApiKeyIsAcceptedWithItsSecretUntilItExpires() {
        Instant expiry = Instant.ofEpochSecond(1_000_060);
        NewKey made = Objects.requireNonNull(accounts.createKey("ci", Role.PUBLISHER, true, expiry, "", "test")
                .block(PATIENCE));
        ApiKey key = made.object().value();

        assertThat(accounts.byKey(key.key(), made.secret()))
                .isEqualTo(new Caller("ci", Role.PUBLISHER, Caller.Kind.API_KEY));
        assertThat(accounts.byKey(key.key(), made.secret() + "x")).isNull();
        assertThat(accounts.byKey("unknown", made.secret())).isNull();
        assertThat(made.toString() + key).doesNotContain(made.secret()).doesNotContain(key.secretHash());
        nanos.addAndGet(Duration.ofSeconds(60).toNanos());
        assertThat(accounts.byKey(key.key(), made.secret())).isNull();
    }

    @Test
    void aKeyThatIsDisabledOrDeletedIsRefused() {
        NewKey made = Objects.requireNonNull(
                accounts.createKey("ci", Role.VIEWER, true, null, "", "test").block(PATIENCE));
        ApiKey key = made.object().value();
        ApiKey disabled = new ApiKey(key.key(), key.secretHash(), key.role(), false, null, key.createdAt(), "");

        accounts.keys().put("ci", disabled, Expected.SOMETHING, "test").block(PATIENCE);
        assertThat(accounts.byKey(key.key(), made.secret())).isNull();
        accounts.keys().put("ci", key, Expected.SOMETHING, "test").block(PATIENCE);
        assertThat(accounts.byKey(key.key(), made.secret())).isNotNull();
        accounts.keys().delete("ci", Expected.ANYTHING, "test").block(PATIENCE);
        assertThat(accounts.byKey(key.key(), made.secret())).isNull();
    }

    @Test
    void requestsOfForeignPagesAreRecognized() {
        HostRule strict = new HostRule(List.of("broker.example.com"), false);
        for (String host : List.of("127.0.0.1:18083", "[::1]:18083", "localhost", "Broker.example.com:18083")) {
            assertThat(strict.isForeign(host, null)).as(host).isFalse();
            assertThat(strict.isForeign(host, "http://" + host)).as(host).isFalse();
            assertThat(strict.isForeign(host, "http://evil.example")).isTrue();
            assertThat(strict.isForeign(host, "null")).isTrue();
        }
        assertThat(strict.isForeign("evil.example:18083", null)).isTrue();
        assertThat(strict.isForeign("evil.example:18083", "http://evil.example:18083"))
                .isTrue();
        assertThat(strict.isForeign("127.0.0.1:18083", "https://broker.example.com"))
                .isFalse();
        assertThat(strict.isForeign(null, null)).isFalse();
        HostRule open = new HostRule(List.of(), true);
        assertThat(open.isForeign("any.example", "http://any.example")).isFalse();
        assertThat(open.isForeign("any.example", "http://evil.example")).isTrue();
    }
}
