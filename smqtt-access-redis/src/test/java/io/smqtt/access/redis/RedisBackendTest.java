// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.ReloadResult;
import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.util.context.Context;

/** Both layouts of keys, with a server that notes what it is asked. */
class RedisBackendTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** SHA-256 of {@code peppersecret} and {@code peppertoor}. */
    private static final String ANN = "744a9101f7182a6ae0d978121ff74e33cac8d2832579c0637c1c37e9bbb6c065";

    private static final String ROOT = "eb9264743a0f1eb4766b5b05f0952023af105e0fa00af1b46a866e88482bbd37";

    /** Hashes of {@code secret} and {@code toor}. */
    private static final String BOB = "PBKDF2$sha512$100000$n51RvHDvIcpcFPMHmAop2A=="
            + "$GeHl90EKOKkduwY0VDL+TclaGgV04q7EUsmY/oprMI2wf7qFDlF64lkXYj5S4gh9imizVat85XLQcD/aOam0vg==";

    private static final String CAROL = "PBKDF2$sha512$100000$qaAZgBCmBz25ZDT2zF8iqA=="
            + "$FIFIkoiffPZjgC60oQiH63lT1HsbHPze2MAq9dAwwKybVnrPgZWv6rO2qN16SnOcHQrLxCmSPYDwNTEVgRwtlA==";

    private FakeRedis redis;
    private @Nullable AccessBackend opened;

    @BeforeEach
    void start() throws IOException {
        redis = new FakeRedis();
    }

    @AfterEach
    void stop() throws IOException {
        if (opened != null) {
            opened.close();
        }
        redis.close();
    }

    private AccessBackend open(String... keysAndValues) {
        List<String> all = new ArrayList<>(List.of("url", redis.url()));
        all.addAll(List.of(keysAndValues));
        opened = backend(all.toArray(String[]::new));
        return opened;
    }

    static AccessBackend backend(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        RedisBackendFactory factory = new RedisBackendFactory();
        AccessBackendConfig config = AccessBackendConfig.builder("redis")
                .timeout(Duration.ofSeconds(5))
                .build();
        return factory.open(
                BackendSettings.of("store", factory.settings(), values),
                new BackendContext("store", config, Ticker.SYSTEM));
    }

    private static BackendRequest request(@Nullable String user, @Nullable String password) {
        return new BackendRequest(
                "c1",
                user,
                password == null ? null : password.getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.7", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
    }

    private static BackendAnswer ask(AccessBackend backend, @Nullable String user, @Nullable String password) {
        return Objects.requireNonNull(
                backend.authenticate(request(user, password)).block(PATIENCE));
    }

    private static List<AccessRule> rules(AccessBackend backend, @Nullable String user) {
        return Objects.requireNonNull(backend.rules(request(user, null)).block(PATIENCE));
    }

    @Test
    void aUserOfEmqxIsAHash() {
        redis.put("mqtt_user:ann", Map.of("password_hash", ANN, "salt", "pepper", "is_superuser", "0"));
        redis.put("mqtt_user:root", Map.of("password_hash", ROOT, "salt", "pepper", "is_superuser", "1"));
        redis.put("mqtt_user:empty", Map.of("salt", "pepper"));
        redis.put("mqtt_user:text", "a text");
        AccessBackend backend = open();

        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "ann", "Secret")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "ann", "")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "ann", null)).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "root", "toor")).isEqualTo(new BackendAnswer.Allow(true, Map.of(), null, null));
        assertThat(ask(backend, "bob", "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, "empty", "secret")).as("no hash").isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, "text", "secret")).as("another type").isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, null, "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(redis.commands().get(0))
                .containsExactly("HMGET", "mqtt_user:ann", "password_hash", "salt", "is_superuser");
    }

    @Test
    void rulesOfEmqxAreFieldsOfAHash() {
        redis.put(
                "mqtt_acl:ann",
                new TreeMap<>(Map.of(
                        "a/+", "publish",
                        "b/#", "subscribe",
                        "c/${clientid}", "all",
                        "d", "{\"action\": \"publish\", \"qos\": [1, 2], \"retain\": false}",
                        "eq e/#", "{\"action\": \"all\", \"qos\": 0}")));
        redis.put("mqtt_acl:odd", Map.of("a", "perhaps"));
        redis.put("mqtt_acl:broken", Map.of("a", "{"));
        AccessBackend backend = open();

        List<AccessRule> rules = rules(backend, "ann");

        assertThat(rules)
                .extracting(AccessRule::rule)
                .containsExactlyInAnyOrder(
                        new RuleList.Rule(true, Actions.PUBLISH, "a/+"),
                        new RuleList.Rule(true, Actions.SUBSCRIBE, "b/#"),
                        new RuleList.Rule(true, Actions.ALL, "c/${clientid}"),
                        new RuleList.Rule(true, Actions.PUBLISH, "d", false, 6, false),
                        new RuleList.Rule(true, Actions.ALL, "e/#", true, 1, null));
        assertThat(rules(backend, "nobody")).isEmpty();
        assertThat(rules(backend, null)).isEmpty();
        assertThatThrownBy(() -> rules(backend, "odd"))
                .isInstanceOf(RedisFailedException.class)
                .hasMessageContaining("action");
        assertThatThrownBy(() -> rules(backend, "broken")).isInstanceOf(RedisFailedException.class);
    }

    /** No value allows more than it says: other fields are conditions, or unknown, or those of the hash. */
    @Test
    void aValueWithFurtherFieldsNeverAllowsMore() {
        redis.put(
                "mqtt_acl:ann",
                new TreeMap<>(Map.of(
                        "a", "{\"action\": \"all\", \"ipaddr\": \"10.0.0.0/8\", \"listener\": \"tcp\"}",
                        "b", "{\"action\": \"all\", \"zone\": \"z1\"}")));
        redis.put("mqtt_acl:denied", Map.of("a", "{\"permission\": \"deny\"}"));
        redis.put("mqtt_acl:topics", Map.of("a", "{\"topics\": [\"#\"]}"));
        AccessBackend backend = open();

        assertThat(rules(backend, "ann")).singleElement().satisfies(rule -> {
            assertThat(rule.rule().topic()).isEqualTo("a");
            assertThat(rule.addresses()).hasSize(1);
            assertThat(rule.listener()).isEqualTo("tcp");
        });
        assertThatThrownBy(() -> rules(backend, "denied")).hasMessageContaining("of its own");
        assertThatThrownBy(() -> rules(backend, "topics")).hasMessageContaining("of its own");
    }

    @Test
    void otherCommandsCanBeConfigured() {
        redis.put("user ann", Map.of("password", "secret"));
        redis.put("{ann}:rules", Map.of("a/#", "publish"));
        AccessBackend backend = open(
                "cmd", "hget 'user ${username}' password",
                "hash.name", "plain",
                "acl.cmd", "HMGET \"{${username}}:rules\" a/# b/${clientid}");

        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(rules(backend, "ann")).hasSize(1);
        assertThat(redis.commands().get(0)).containsExactly("HMGET", "user ann", "password");
        assertThat(redis.commands().get(1)).containsExactly("HMGET", "{ann}:rules", "a/#", "b/c1");
    }

    @Test
    void usersAndRulesOfGoAuthHaveKeysOfTheirOwn() {
        redis.put("bob", BOB);
        redis.put("carol", CAROL);
        redis.put("carol:su", "true");
        redis.put("bob:sacls", Set.of("s/#"));
        redis.put("bob:racls", Set.of("r/%u"));
        redis.put("bob:wacls", Set.of("w"));
        redis.put("bob:rwacls", Set.of("rw/+"));
        redis.put("common:sacls", Set.of("common/%u/%c"));
        AccessBackend backend = open("style", "go-auth");

        assertThat(ask(backend, "bob", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "bob", "wrong")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "carol", "toor")).isEqualTo(new BackendAnswer.Allow(true, Map.of(), null, null));
        assertThat(ask(backend, "dave", "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, "bob:sacls", "secret")).as("a set").isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, "carol:su", "true")).as("no hash").isEqualTo(BackendAnswer.DENY);
        assertThat(rules(backend, "bob"))
                .extracting(AccessRule::rule)
                .containsExactly(
                        new RuleList.Rule(true, Actions.SUBSCRIBE_REQUEST, "s/#"),
                        new RuleList.Rule(true, Actions.DELIVERY, "r/%u"),
                        new RuleList.Rule(true, Actions.PUBLISH, "w"),
                        new RuleList.Rule(true, Actions.PUBLISH, "rw/+"),
                        new RuleList.Rule(true, Actions.DELIVERY, "rw/+"),
                        new RuleList.Rule(true, Actions.SUBSCRIBE_REQUEST, "common/${username}/${clientid}"));
        assertThat(AccessRules.compile(rules(backend, "bob"), request("bob", null))
                        .size())
                .isEqualTo(6);
    }

    @Test
    void superusersOfGoAuthCanBeOff() {
        redis.put("carol", CAROL);
        redis.put("carol:su", "true");

        assertThat(ask(open("style", "go-auth", "superusers", "false"), "carol", "toor"))
                .isEqualTo(new BackendAnswer.Allow());
        assertThat(redis.commands()).containsExactly(List.of("GET", "carol"));
    }

    /** A user name is a part of one argument, also if it looks like the protocol. */
    @Test
    void noUserNameBecomesMoreThanAPartOfTheKey() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<String> pieces = List.of(
                " ",
                "\r\n",
                "\n",
                "\"",
                "'",
                "\\",
                "*1",
                "$3",
                "FLUSHALL",
                "HGETALL",
                "${username}",
                "{",
                "}",
                ":",
                "*",
                "?",
                "é",
                "ann");
        AccessBackend backend = open();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String name = IntStream.rangeClosed(0, random.nextInt(5))
                    .mapToObj(part -> pieces.get(random.nextInt(pieces.size())))
                    .collect(Collectors.joining());
            names.add(name);
            assertThat(ask(backend, name, "secret"))
                    .as("%s, seed %d", name, seed)
                    .isEqualTo(BackendAnswer.NOT_MINE);
        }
        assertThat(redis.commands())
                .as("seed %d", seed)
                .isEqualTo(names.stream()
                        .map(name -> List.of("HMGET", "mqtt_user:" + name, "password_hash", "salt", "is_superuser"))
                        .toList());
    }

    @Test
    void moreValuesThanRulesThatAClientMayHaveAreAFailure() {
        Map<String, String> many = IntStream.range(0, Redis.MAXIMUM_VALUES + 1)
                .boxed()
                .collect(Collectors.toMap(i -> "t/" + i, i -> "publish"));
        redis.put("mqtt_acl:ann", many);

        assertThatThrownBy(() -> rules(open(), "ann")).hasMessageContaining("more than 1000");
    }

    /** What waits behind an answer that does not come would wait for ever. */
    @Test
    void aRequestThatIsNotAnsweredInTimeCostsTheConnection() {
        redis.put("mqtt_user:ann", Map.of("password_hash", ANN, "salt", "pepper"));
        AccessBackend backend = open();
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(redis.connections()).isEqualTo(1);

        redis.beSilent(true);
        assertThatThrownBy(() -> backend.authenticate(request("ann", "secret"))
                        .timeout(Duration.ofMillis(200))
                        .block(PATIENCE))
                .hasMessageContaining("200ms");
        redis.beSilent(false);

        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(redis.connections()).isEqualTo(2);
    }

    /** A request that has ceased to wait is not told of an error, which Reactor would log with its stack. */
    @Test
    void anErrorThatNobodyWaitsForIsNotLogged() throws IOException {
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        AccessBackend backend = open();
        redis.beSilent(true);
        redis.beMute(true);
        assertThatThrownBy(() -> impatient(backend, dropped)).hasMessageContaining("20ms");
        redis.dropConnections();
        assertThatThrownBy(() -> ask(backend, "ann", "secret"))
                .as("opening failed")
                .isNotNull();

        redis.beMute(false);
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> impatient(backend, dropped)).hasMessageContaining("20ms");
        }
        redis.close();
        redis.dropConnections();
        assertThatThrownBy(() -> ask(backend, "ann", "secret")).isNotNull();

        assertThat(dropped).isEmpty();
    }

    private static void impatient(AccessBackend backend, List<Throwable> dropped) {
        Consumer<Throwable> hook = dropped::add;
        backend.authenticate(request("ann", "secret"))
                .timeout(Duration.ofMillis(20))
                .contextWrite(Context.of("reactor.onErrorDropped.local", hook))
                .block(PATIENCE);
    }

    @Test
    void aServerThatIsAwayIsAFailure() throws IOException {
        AccessBackend backend = open();
        redis.close();

        assertThatThrownBy(() -> ask(backend, "ann", "secret")).hasMessageContaining("refused");
    }

    /** Those that are open stay. */
    @Test
    void newConnectionsUseThePasswordThatWasReadLast(@TempDir Path directory) throws IOException {
        redis.put("mqtt_user:ann", Map.of("password_hash", ANN, "salt", "pepper"));
        Path file = Files.writeString(directory.resolve("password"), "first\n");
        AccessBackend backend = open("username", "smqtt", "password-file", file.toString());
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(redis.credentials()).containsExactly("smqtt", "first");

        Files.writeString(file, "second\n");
        assertThat(backend.reload()).isEqualTo(new ReloadResult(List.of(file.toString()), List.of()));
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(redis.credentials()).containsExactly("smqtt", "first");
        redis.dropConnections();
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() ->
                        ask(backend, "ann", "secret").equals(new BackendAnswer.Allow()) && redis.connections() == 2);
        assertThat(redis.credentials()).containsExactly("smqtt", "second");
    }
}
