// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.nimbusds.jose.JWSAlgorithm;
import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Tokens that are right, wrong and hostile. */
class JwtBackendTest {

    private static final String RS = "{\"alg\":\"RS256\"}";
    private static final BackendAnswer DENY = BackendAnswer.DENY;
    private static final BackendAnswer NOT_MINE = BackendAnswer.NOT_MINE;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'is_superuser':true}; Allow[superuser=true, attributes={}, expiresAt=null, rules=null]",
                "{'is_superuser':'1'}; Allow[superuser=true, attributes={}, expiresAt=null, rules=null]",
                "{'is_superuser':'yes'}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'is_superuser':[true]}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'client_attrs':{'a':'b','n':1}}; Allow[superuser=false, attributes={a=b}, expiresAt=null, rules=null]",
                "{'client_attrs':'x'}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'exp':4102444800}; Allow[superuser=false, attributes={}, expiresAt=2100-01-01T00:00:10Z, rules=null]",
                "{'exp':1e300}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'exp':99999999999999999999999}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'iat':1,'nbf':1.5}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "{'acl':[]}; Allow[superuser=false, attributes={}, expiresAt=null, rules=[]]",
                "{'acl':{}}; Allow[superuser=false, attributes={}, expiresAt=null, rules=[]]",
                "{'exp':1}; Deny[]",
                "{'exp':-1e300}; Deny[]",
                "{'exp':'4102444800'}; Deny[]",
                "{'exp':true}; Deny[]",
                "{'nbf':4102444800}; Deny[]",
                "{'iat':4102444800}; Deny[]",
                "{'iat':'x'}; Deny[]",
                "{'acl':'x'}; Deny[]",
                "{'acl':[{}]}; Deny[]",
                "{'acl':{'pub':'t'}}; Deny[]",
                "{'acl':{'pub':[1]}}; Deny[]",
                "{'acl':{'deny':['t']}}; Deny[]",
                "{'exp':1,'exp':4102444800}; Deny[]",
                "{} {}; Deny[]",
                "[]; Deny[]",
                "x; Deny[]",
                "''; NotMine[]",
            })
    void claims(String claims, String expected) {
        AccessBackend backend = open("secret", Tokens.SECRET);

        assertThat(ask(backend, Tokens.hmac(claims.replace('\'', '"').replace("\"\"", ""))))
                .hasToString(expected);
    }

    @Test
    void leewayCountsOnBothSides() {
        AccessBackend backend = open("secret", Tokens.SECRET, "leeway", "5m");
        long now = Instant.now().getEpochSecond();

        assertThat(ask(backend, Tokens.hmac("{\"exp\":" + (now - 200) + "}"))).isInstanceOf(BackendAnswer.Allow.class);
        assertThat(ask(backend, Tokens.hmac("{\"nbf\":" + (now + 200) + "}"))).isInstanceOf(BackendAnswer.Allow.class);
        assertThat(ask(backend, Tokens.hmac("{\"exp\":" + (now - 400) + "}"))).isEqualTo(DENY);
        assertThat(ask(backend, Tokens.hmac("{\"iat\":" + (now + 400) + "}"))).isEqualTo(DENY);
    }

    @Test
    void aClientStaysAfterItsTokenHasExpiredIfThatIsConfigured() {
        AccessBackend backend = open("secret", Tokens.SECRET, "disconnect-after-expire", "false");

        assertThat(allow(backend, "{\"exp\":4102444800}").expiresAt()).isNull();
    }

    @Test
    void rulesHaveBothForms() {
        AccessBackend backend = open("secret", Tokens.SECRET, "acl-claim", "rights");

        assertThat(allow(
                                backend,
                                "{\"rights\":{\"pub\":[\"a/${clientid}\",\"eq b/#\"],\"sub\":[\"c\"],\"all\":[\"d\"]},\"acl\":1}")
                        .rules())
                .extracting(rule -> rule.rule().actions() + " " + rule.rule().topic() + " "
                        + rule.rule().literal())
                .containsExactly("PUBLISH a/${clientid} false", "PUBLISH b/# true", "SUBSCRIBE c false", "ALL d false");
        assertThat(allow(
                                backend,
                                "{\"rights\":[{\"permission\":\"deny\",\"action\":\"all\",\"topic\":\"x\",\"qos\":1}]}")
                        .rules())
                .singleElement()
                .satisfies(rule -> assertThat(rule.rule().allow()).isFalse());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{'sub':'c1','name':'ann','aud':'mqtt','n':7}; true",
                "{'sub':'c1','name':'ann','aud':['web','mqtt'],'n':'7'}; true",
                "{'sub':'c2','name':'ann','aud':'mqtt','n':7}; false",
                "{'sub':'c1','name':'bob','aud':'mqtt','n':7}; false",
                "{'sub':['c1'],'name':'ann','aud':'mqtt','n':7}; false",
                "{'sub':'c1','name':'ann','aud':['web'],'n':7}; false",
                "{'sub':'c1','name':'ann','aud':'mqtt','n':null}; false",
                "{'sub':'c1','name':'ann','aud':'mqtt'}; false",
                "{}; false",
            })
    void requiredClaims(String claims, boolean allowed) {
        AccessBackend backend = open(
                "secret", Tokens.SECRET,
                "verify-claims.sub", "${clientid}",
                "verify-claims.name", "${username}",
                "verify-claims.aud", "mqtt",
                "verify-claims.n", "7");

        assertThat(ask(backend, Tokens.hmac(claims.replace('\'', '"'))) instanceof BackendAnswer.Allow)
                .isEqualTo(allowed);
    }

    @Test
    void aPlaceholderWithoutValueRefuses() {
        AccessBackend backend = open("secret", Tokens.SECRET, "verify-claims.name", "${username}");

        assertThat(backend.authenticate(request(null, Tokens.hmac("{\"name\":\"\"}")))
                        .block())
                .isEqualTo(DENY);
    }

    @Test
    void theUserNameCanBeTheToken() {
        AccessBackend backend = open("secret", Tokens.SECRET, "from", "username");

        assertThat(backend.authenticate(request(Tokens.hmac("{}"), "x")).block())
                .isInstanceOf(BackendAnswer.Allow.class);
        assertThat(backend.authenticate(request("ann", Tokens.hmac("{}"))).block())
                .isEqualTo(NOT_MINE);
        assertThat(backend.authenticate(request("a".repeat(8193), "x")).block()).isEqualTo(DENY);
    }

    @Test
    void publicKeysOfAllKindsInOneFile() throws IOException {
        String file = Tokens.write(
                        directory,
                        "keys.pem",
                        Tokens.pem(Tokens.RSA) + Tokens.pem(Tokens.CURVE) + Tokens.pem(Tokens.EDWARDS))
                .toString();
        AccessBackend backend = open("public-key", file);

        assertThat(List.of(
                        Tokens.rsa(Tokens.RSA, RS, "{}"),
                        Tokens.signed(
                                Tokens.CURVE.getPrivate(), "SHA256withECDSAinP1363Format", "{\"alg\":\"ES256\"}", "{}"),
                        Tokens.signed(Tokens.EDWARDS.getPrivate(), "Ed25519", "{\"alg\":\"EdDSA\"}", "{}")))
                .allSatisfy(token -> assertThat(ask(backend, token)).isInstanceOf(BackendAnswer.Allow.class));
        assertThat(ask(backend, Tokens.rsa(Tokens.OTHER_RSA, RS, "{}"))).isEqualTo(NOT_MINE);
    }

    @Test
    void aCertificateIsAPublicKey() throws Exception {
        Path file = Path.of(Objects.requireNonNull(JwtBackendTest.class.getResource("/io/smqtt/access/client.pem"))
                .toURI());

        assertThat(PublicKeyFile.read(file))
                .singleElement()
                .satisfies(key -> assertThat(key.algorithms()).containsExactly(JWSAlgorithm.ES256));
    }

    @Test
    void publicKeysAreCheckedOnThreadsOfTheBackend() throws IOException {
        AccessBackend backend = open(
                "public-key",
                Tokens.write(directory, "key.pem", Tokens.pem(Tokens.RSA)).toString());

        assertThat(backend.authenticate(request("ann", Tokens.rsa(Tokens.RSA, RS, "{}")))
                        .map(answer -> Thread.currentThread().getName())
                        .block())
                .startsWith("smqtt-access-tokens");
        backend.close();
    }

    @Test
    void moreTokensThanMayWaitAreTurnedAway() {
        Scheduler thread = Schedulers.newBoundedElastic(1, 2, "check", 60, true);
        CountDownLatch held = new CountDownLatch(1);
        JwtBackend backend = new JwtBackend(
                "tokens",
                KeySource.fixed(List.of(VerificationKey.of(null, Tokens.RSA.getPublic()))),
                new JwtBackend.Policy(false, Duration.ZERO, Map.of(), "acl", true),
                InstantSource.system(),
                thread);
        thread.schedule(() -> {
            try {
                held.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Queue<Object> results = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 10; i++) {
            backend.authenticate(request("ann", Tokens.rsa(Tokens.RSA, RS, "{}")))
                    .subscribe(results::add, results::add);
        }

        assertThat(results)
                .hasSizeBetween(7, 8)
                .allSatisfy(result -> assertThat(result)
                        .isInstanceOf(BackendBusyException.class)
                        .hasToString(BackendBusyException.class.getName()
                                + ": tokens: too many tokens wait for their check"));
        held.countDown();
        await().until(() -> results.size() == 10);
        assertThat(results).hasAtLeastOneElementOfType(BackendAnswer.Allow.class);
        backend.close();
    }

    @Test
    void algorithmsCanBeFewer() throws IOException {
        String file = Tokens.write(directory, "key.pem", Tokens.pem(Tokens.RSA)).toString();

        assertThat(ask(open("public-key", file, "algorithms", "RS512,PS256"), Tokens.rsa(Tokens.RSA, RS, "{}")))
                .isEqualTo(NOT_MINE);
        assertThat(ask(open("public-key", file, "algorithms", "RS256"), Tokens.rsa(Tokens.RSA, RS, "{}")))
                .isInstanceOf(BackendAnswer.Allow.class);
    }

    /** The public key is known to all: as the secret of an HMAC it would let everybody sign. */
    @Test
    void aPublicKeyIsNoSecret() throws IOException {
        String pem = Tokens.pem(Tokens.RSA);
        AccessBackend backend =
                open("public-key", Tokens.write(directory, "key.pem", pem).toString());
        byte[] der = Tokens.RSA.getPublic().getEncoded();

        for (byte[] secret : List.of(pem.getBytes(StandardCharsets.US_ASCII), der)) {
            assertThat(ask(backend, Tokens.hmac(secret, "{\"alg\":\"HS256\"}", "{}")))
                    .isEqualTo(NOT_MINE);
            assertThat(ask(backend, Tokens.hmac(secret, RS, "{}"))).isEqualTo(NOT_MINE);
        }
    }

    @Test
    void hostileHeadersAreNotMine() throws IOException {
        AccessBackend backend = open(
                "public-key",
                Tokens.write(directory, "key.pem", Tokens.pem(Tokens.RSA)).toString());
        String modulus = Tokens.encode(((java.security.interfaces.RSAPublicKey) Tokens.OTHER_RSA.getPublic())
                .getModulus()
                .toByteArray());
        String own = "{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"" + modulus + "\"}";

        assertThat(List.of(
                        Tokens.unsigned("{\"alg\":\"none\"}", "{}") + ".",
                        Tokens.unsigned("{\"alg\":\"none\"}", "{}") + ".AA",
                        Tokens.unsigned("{\"alg\":\"NoNe\"}", "{}") + ".AA",
                        Tokens.unsigned(RS, "{}") + ".",
                        Tokens.unsigned(RS, "{}") + ".AA",
                        Tokens.rsa(Tokens.RSA, "{\"alg\":\"RS384\"}", "{}"),
                        Tokens.rsa(Tokens.OTHER_RSA, "{\"alg\":\"RS256\",\"jwk\":" + own + "}", "{}"),
                        Tokens.rsa(Tokens.OTHER_RSA, "{\"alg\":\"RS256\",\"jku\":\"http://127.0.0.1:1/\"}", "{}"),
                        Tokens.rsa(Tokens.OTHER_RSA, "{\"alg\":\"RS256\",\"kid\":\"../../etc/passwd\"}", "{}"),
                        Tokens.rsa(Tokens.RSA, "{\"alg\":\"RS256\",\"crit\":[\"x\"],\"x\":1}", "{}"),
                        Tokens.rsa(Tokens.RSA, "{\"alg\":\"RS256\",\"crit\":[\"b64\"],\"b64\":false}", "{}"),
                        Tokens.rsa(Tokens.RSA, "[]", "{}"),
                        Tokens.rsa(Tokens.RSA, "{\"alg\":" + "[".repeat(700) + "]".repeat(700) + "}", "{}"),
                        Tokens.rsa(Tokens.RSA, "{\"alg\":\"RS256\",\"x\":\"" + "x".repeat(2000) + "\"}", "{}"),
                        "a.b.c",
                        "..",
                        "a.b.c.d.e",
                        "...",
                        ".",
                        "",
                        "secret"))
                .allSatisfy(token -> assertThat(ask(backend, token)).isEqualTo(NOT_MINE));
        assertThat(backend.authenticate(request("ann", null)).block()).isEqualTo(NOT_MINE);
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 1000})
    void deepClaimsAreRefused(int depth) {
        AccessBackend backend = open("secret", Tokens.SECRET);

        assertThat(ask(backend, Tokens.hmac("{\"a\":" + "[".repeat(depth) + "]".repeat(depth) + "}")))
                .isEqualTo(DENY);
    }

    @Test
    void longTokensAreRefusedAndManyClaimsFitInOne() {
        AccessBackend backend = open("secret", Tokens.SECRET);
        StringBuilder many = new StringBuilder("{\"a\":1");
        for (int i = 0; i < 600; i++) {
            many.append(",\"").append(i).append("\":1");
        }

        assertThat(ask(backend, Tokens.hmac(many + "}"))).isInstanceOf(BackendAnswer.Allow.class);
        assertThat(ask(backend, Tokens.hmac("{\"a\":\"" + "x".repeat(8192) + "\"}")))
                .isEqualTo(DENY);
    }

    @Test
    void aChangedTokenIsNeverAccepted() {
        AccessBackend backend = open("secret", Tokens.SECRET);
        String token = Tokens.hmac("{\"sub\":\"c1\",\"exp\":4102444800}");
        byte[] signature = signature(token);
        Random random = new Random(17);

        for (int i = 0; i < 20_000; i++) {
            StringBuilder changed = new StringBuilder(token);
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                int at = random.nextInt(changed.length());
                switch (random.nextInt(3)) {
                    case 0 -> changed.setCharAt(at, (char) random.nextInt(128));
                    case 1 -> changed.deleteCharAt(at);
                    default -> changed.insert(at, "A.-_e".charAt(random.nextInt(5)));
                }
            }
            String text = changed.toString();
            if (ask(backend, text) instanceof BackendAnswer.Allow) {
                // the last character of a signature has bits that do not count
                assertThat(text.substring(0, text.lastIndexOf('.')))
                        .isEqualTo(token.substring(0, token.lastIndexOf('.')));
                assertThat(signature(text)).isEqualTo(signature);
            }
        }
    }

    /** Claims of a signed token: whatever they are, there is an answer. */
    @Test
    void anyClaimsHaveAnAnswer() {
        AccessBackend backend = open("secret", Tokens.SECRET, "verify-claims.sub", "c1");
        byte[] claims =
                ("{\"sub\":\"c1\",\"exp\":4102444800,\"iat\":1.5e3,\"is_superuser\":false,\"client_attrs\":{\"a\":\"b\"},"
                                + "\"acl\":[{\"permission\":\"allow\",\"action\":\"all\",\"topic\":\"t/#\",\"qos\":[0,1]}]}")
                        .getBytes(StandardCharsets.US_ASCII);
        Random random = new Random(23);

        for (int i = 0; i < 20_000; i++) {
            byte[] changed = Arrays.copyOf(claims, claims.length);
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                changed[random.nextInt(changed.length)] = random.nextBoolean()
                        ? (byte) "{}[]\",:0123456789eE.-tfn\\".charAt(random.nextInt(25))
                        : (byte) random.nextInt(128);
            }
            String text = new String(changed, StandardCharsets.US_ASCII);
            assertThat(ask(backend, Tokens.hmac(text))).as(text).isNotEqualTo(NOT_MINE);
        }
    }

    @Test
    void wrongConfigurationsNameKeyAndLine() throws IOException {
        String weak = Tokens.write(directory, "empty.pem", "nothing").toString();
        String secret = Tokens.write(
                        directory, "private.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
                .toString();
        String good = Tokens.write(directory, "key.pem", Tokens.pem(Tokens.RSA)).toString();

        assertProblem("access.backends.tokens.secret must be set, or one of ");
        assertProblem("smqtt.yaml:1: access.backends.tokens.secret has 5 bytes, but HS256 needs", "secret", "short");
        assertProblem(
                "smqtt.yaml:1: access.backends.tokens.secret is no Base64", "secret", "%%%", "secret-base64", "true");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.public-key cannot be set together with secret",
                "secret",
                Tokens.SECRET,
                "public-key",
                good);
        assertProblem(
                "smqtt.yaml:1: access.backends.tokens.public-key names " + weak + ", which has no public key",
                "public-key",
                weak);
        assertProblem(
                "smqtt.yaml:1: access.backends.tokens.public-key names " + secret + ", which has a PRIVATE KEY, but",
                "public-key",
                secret);
        assertProblem(
                "smqtt.yaml:1: access.backends.tokens.public-key names /nowhere/key, which cannot be read",
                "public-key",
                "/nowhere/key");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.algorithms has HS256, for which there is no key",
                "public-key",
                good,
                "algorithms",
                "RS256,HS256");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.algorithms must have only HS256",
                "public-key",
                good,
                "algorithms",
                "none");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.verify-claims.sub has the placeholder ${user}",
                "secret",
                Tokens.SECRET,
                "verify-claims.sub",
                "${user}");
        assertProblem(
                "smqtt.yaml:1: access.backends.tokens.endpoint must be a URL such as",
                "endpoint",
                "https://me:secret@id.example/");
        assertProblem("smqtt.yaml:1: access.backends.tokens.endpoint must be a URL", "endpoint", "file:///etc/passwd");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.algorithms has one of a secret",
                "endpoint",
                "http://127.0.0.1/",
                "algorithms",
                "HS256");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.refresh-interval needs endpoint",
                "secret",
                Tokens.SECRET,
                "refresh-interval",
                "1m");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.ca needs an endpoint that begins with https://",
                "endpoint",
                "http://127.0.0.1/",
                "ca",
                "ca.pem");
        assertProblem(
                "smqtt.yaml:2: access.backends.tokens.secret-base64 needs secret",
                "public-key",
                good,
                "secret-base64",
                "true");
    }

    @Test
    void secretsFromAFileAndInBase64() throws IOException {
        String encoded = Base64.getEncoder().encodeToString(Tokens.SECRET.getBytes(StandardCharsets.US_ASCII));
        String file = Tokens.write(directory, "secret", Tokens.SECRET + "\n").toString();

        assertThat(ask(open("secret-file", file), Tokens.hmac("{}"))).isInstanceOf(BackendAnswer.Allow.class);
        assertThat(ask(open("secret", encoded, "secret-base64", "true"), Tokens.hmac("{}")))
                .isInstanceOf(BackendAnswer.Allow.class);
    }

    /** So keys change without a restart. */
    @Test
    void aFileIsReadAgainAndOneThatCannotBeUsedChangesNothing() throws IOException {
        Path file = Tokens.write(directory, "keys.pem", Tokens.pem(Tokens.RSA));
        AccessBackend backend = open("public-key", file.toString());
        String first = Tokens.rsa(Tokens.RSA, RS, "{}");
        String second = Tokens.rsa(Tokens.OTHER_RSA, RS, "{}");

        Tokens.write(directory, "keys.pem", Tokens.pem(Tokens.OTHER_RSA));
        assertThat(ask(backend, second)).isEqualTo(NOT_MINE);
        assertThat(backend.reload()).isEqualTo(new ReloadResult(List.of(file.toString()), List.of()));
        assertThat(ask(backend, first)).isEqualTo(NOT_MINE);
        assertThat(ask(backend, second)).isInstanceOf(BackendAnswer.Allow.class);

        Tokens.write(directory, "keys.pem", "nothing");
        assertThat(backend.reload())
                .isEqualTo(new ReloadResult(
                        List.of(),
                        List.of("smqtt.yaml:1: access.backends.tokens.public-key names " + file
                                + ", which has no public key in PEM")));
        assertThat(ask(backend, second)).isInstanceOf(BackendAnswer.Allow.class);
        assertThat(open("secret", Tokens.SECRET).reload()).isEqualTo(ReloadResult.NOTHING);
    }

    @Test
    void aSecretOfAFileIsReadAgain() throws IOException {
        Path file = Tokens.write(directory, "secret", "x".repeat(32));
        AccessBackend backend = open("secret-file", file.toString());
        assertThat(ask(backend, Tokens.hmac("{}"))).isEqualTo(NOT_MINE);

        Tokens.write(directory, "secret", Tokens.SECRET);
        assertThat(backend.reload().reloaded()).containsExactly(file.toString());
        assertThat(ask(backend, Tokens.hmac("{}"))).isInstanceOf(BackendAnswer.Allow.class);
    }

    private static void assertProblem(String expected, String... keysAndValues) {
        assertThatThrownBy(() -> open(keysAndValues)).hasMessageStartingWith(expected);
    }

    private static byte[] signature(String token) {
        return Base64.getUrlDecoder().decode(token.substring(token.lastIndexOf('.') + 1));
    }

    private static BackendAnswer.Allow allow(AccessBackend backend, String claims) {
        return (BackendAnswer.Allow) ask(backend, Tokens.hmac(claims));
    }

    private static BackendAnswer ask(AccessBackend backend, String token) {
        return Objects.requireNonNull(
                backend.authenticate(request("ann", token)).block());
    }

    private static BackendRequest request(
            @org.jspecify.annotations.Nullable String user, @org.jspecify.annotations.Nullable String password) {
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

    static AccessBackend open(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        JwtBackendFactory factory = new JwtBackendFactory();
        return factory.open(
                BackendSettings.of("tokens", factory.settings(), values),
                new BackendContext("tokens", AccessBackendConfig.builder("jwt").build(), Ticker.SYSTEM));
    }
}
