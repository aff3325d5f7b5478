// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.message.ProtocolVersion;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Random tokens by the known tricks: none is accepted but those that a trusted key has signed with an algorithm of its own. */
class TokenFuzzTest {

    private static final int ROUNDS = Integer.getInteger("smqtt.fuzz.rounds", 2_000);
    private static final long SEED = Long.getLong("smqtt.seed", 41);
    private static final KeyPair[] TRUSTED = {Tokens.RSA, Tokens.CURVE, Tokens.EDWARDS};
    private static final String[] ALGORITHMS = {
        "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "RS256", "RS512", "PS256", "ES256", "ES256K",
        "ES512", "EdDSA", "Ed25519", "dir", "A128GCM", "RSA1_5", "HS256 ", "hs256", "X"
    };
    private static final String[] KEY_IDS = {
        "../../../../dev/null",
        "/dev/null",
        "x' UNION SELECT 'key",
        "|id",
        "http://127.0.0.1/key",
        "",
        "\\u0000",
        "a",
        "${username}",
        "kid"
    };
    /** Those of keys that the server has. */
    private static final String[] SERVED_IDS = {
        "one", "../../etc/passwd", "x' UNION SELECT 'key", "http://127.0.0.1/key", "|id"
    };

    private static final String[] FIELDS = {
        "\"jku\":\"http://127.0.0.1:1/keys\"",
        "\"x5u\":\"http://127.0.0.1:1/cert\"",
        "\"jwk\":{\"kty\":\"oct\",\"k\":\"AAAA\"}",
        "\"x5c\":[\"AAAA\"]",
        "\"crit\":[\"b64\"]",
        "\"crit\":[]",
        "\"b64\":false",
        "\"zip\":\"DEF\"",
        "\"cty\":\"JWT\"",
        "\"typ\":\"JWT\"",
        "\"alg\":\"none\"",
        "\"enc\":\"A128GCM\""
    };

    @TempDir
    Path directory;

    /** A token, and whether it may be accepted by whoever trusts the keys. */
    private record Made(String text, boolean byPublicKey, boolean bySecret) {}

    @Test
    void onlyTrustedSignaturesAreAccepted() throws Exception {
        String pem = Tokens.pem(Tokens.RSA) + Tokens.pem(Tokens.CURVE) + Tokens.pem(Tokens.EDWARDS);
        AccessBackend publicKeys = JwtBackendTest.open(
                "public-key", Tokens.write(directory, "keys.pem", pem).toString());
        AccessBackend secret = JwtBackendTest.open("secret", Tokens.SECRET);
        int accepted = 0;
        try {
            for (int round = 0; round < ROUNDS; round++) {
                long seed = SEED + round;
                Made made = token(new Random(seed), pem);
                boolean byPublicKey = accepts(publicKeys, made.text);
                boolean bySecret = accepts(secret, made.text);
                accepted += byPublicKey || bySecret ? 1 : 0;
                assertThat(!byPublicKey || made.byPublicKey)
                        .as("seed %d: %s", seed, made.text)
                        .isTrue();
                assertThat(!bySecret || made.bySecret)
                        .as("seed %d: %s", seed, made.text)
                        .isTrue();
            }
        } finally {
            publicKeys.close();
            secret.close();
        }
        assertThat(accepted).as("tokens that were right").isGreaterThan(ROUNDS / 100);
    }

    /**
     * Keys of a server. Its set has keys with hostile identifiers, and one of them stands in for the identifier of a token: nothing but the text is compared, no token
     * makes more than one request, and none of it is in a message.
     */
    @Test
    void noKeyIdentifierOfATokenIsMoreThanAText() {
        AtomicInteger requests = new AtomicInteger();
        FetchedKeys keys = fetched(requests);
        AccessBackend backend = new JwtBackend(
                "fleet",
                keys,
                new JwtBackend.Policy(false, Duration.ZERO, Map.of(), "acl", true),
                InstantSource.system(),
                Schedulers.immediate());
        backend.start();
        int accepted = 0;
        try {
            for (int round = 0; round < ROUNDS; round++) {
                long seed = SEED + round;
                Random random = new Random(seed);
                String id = keyId(random);
                boolean trusted = random.nextBoolean();
                KeyPair pair = trusted ? Tokens.RSA : Tokens.OTHER_RSA;
                String header = "{\"alg\":\"RS256\",\"kid\":\"" + id + "\"}";
                boolean isAccepted = accepts(backend, Tokens.rsa(pair, header, "{\"sub\":\"c1\"}"));
                assertThat(isAccepted)
                        .as("seed %d: %s by %s", seed, id, trusted ? "a trusted key" : "another key")
                        .isEqualTo(trusted && Arrays.asList(SERVED_IDS).contains(id));
                accepted += isAccepted ? 1 : 0;
            }
        } finally {
            backend.close();
        }
        assertThat(accepted).as("tokens that were right").isGreaterThan(ROUNDS / 100);
        assertThat(requests)
                .as("one at the start, one for all unknown identifiers")
                .hasValue(2);
    }

    private static FetchedKeys fetched(AtomicInteger requests) {
        String[] served = new String[SERVED_IDS.length];
        for (int i = 0; i < served.length; i++) {
            served[i] = FetchedKeysTest.jwk(SERVED_IDS[i], Tokens.RSA);
        }
        String set = FetchedKeysTest.set(served);
        return new FetchedKeys(
                new BackendContext("fleet", AccessBackendConfig.builder("jwt").build(), () -> 0),
                new FetchedKeys.Server() {
                    @Override
                    public Mono<String> body() {
                        requests.incrementAndGet();
                        return Mono.just(set);
                    }

                    @Override
                    public void close() {}
                },
                Set.of(),
                Duration.ofMinutes(5),
                (task, delay) -> Disposables.disposed());
    }

    /** An identifier as text of JSON. */
    private static String keyId(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> SERVED_IDS[random.nextInt(SERVED_IDS.length)];
            case 1 -> "x".repeat(1 + random.nextInt(9_000));
            case 2 -> "../".repeat(1 + random.nextInt(500)) + "etc/passwd";
            case 3 -> SERVED_IDS[random.nextInt(SERVED_IDS.length)] + (random.nextBoolean() ? " " : "\\u0000");
            case 4 -> "' OR '1'='1'; DROP TABLE keys; --" + random.nextInt(10);
            default -> KEY_IDS[random.nextInt(KEY_IDS.length)];
        };
    }

    private static boolean accepts(AccessBackend backend, String token) {
        BackendRequest request = new BackendRequest(
                "c1",
                "ann",
                token.getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.7", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
        return Objects.requireNonNull(backend.authenticate(request).block()) instanceof BackendAnswer.Allow;
    }

    private static String header(Random random, String algorithm) {
        List<String> fields = new ArrayList<>();
        fields.add("\"alg\":\"" + algorithm + "\"");
        if (random.nextBoolean()) {
            fields.add("\"kid\":\"" + KEY_IDS[random.nextInt(KEY_IDS.length)] + "\"");
        }
        while (random.nextInt(3) == 0) {
            fields.add(random.nextInt(fields.size() + 1), FIELDS[random.nextInt(FIELDS.length)]);
        }
        return "{" + String.join(",", fields) + "}";
    }

    private static String claims(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> "{\"is_superuser\":true,\"is_superuser\":true}";
            case 1 -> "{\"exp\":1}";
            case 2 -> "[".repeat(1 + random.nextInt(2_000));
            case 3 -> "{\"a\":".repeat(1 + random.nextInt(500)) + "1";
            case 4 ->
                "{\"acl\":[{\"permission\":\"allow\",\"topic\":\"#\"}],\"pad\":\"" + "x".repeat(random.nextInt(9_000))
                        + "\"}";
            default -> "{\"is_superuser\":true}";
        };
    }

    private Made token(Random random, String pem) {
        String algorithm = ALGORITHMS[random.nextInt(ALGORITHMS.length)];
        String claims = claims(random);
        String header = header(random, algorithm);
        return switch (random.nextInt(9)) {
            case 0 -> signedByTrusted(random, claims);
            case 1 ->
                new Made(
                        Tokens.hmac(Tokens.SECRET.getBytes(StandardCharsets.US_ASCII), header(random, "HS256"), claims),
                        false,
                        true);
            case 2 -> new Made(Tokens.unsigned(header, claims) + ".", false, false);
            case 3 ->
                new Made(
                        Tokens.unsigned(header, claims) + "." + Tokens.encode(new byte[1 + random.nextInt(600)]),
                        false,
                        false);
            case 4 -> new Made(Tokens.hmac(confused(random, pem), header(random, "HS256"), claims), false, false);
            case 5 -> new Made(Tokens.rsa(Tokens.OTHER_RSA, header, claims), false, false);
            case 6 -> nested(random, header, claims);
            case 7 -> moved(random, header, claims);
            default -> changed(random, signedByTrusted(random, claims).text);
        };
    }

    /** Signed by a trusted key, with the right algorithm or with the name of another. */
    private static Made signedByTrusted(Random random, String claims) {
        KeyPair pair = TRUSTED[random.nextInt(TRUSTED.length)];
        boolean named = random.nextInt(4) > 0;
        String right = pair == Tokens.RSA ? "RS256" : pair == Tokens.EDWARDS ? "EdDSA" : "ES256";
        String header = header(random, named ? right : ALGORITHMS[random.nextInt(ALGORITHMS.length)]);
        if (pair == Tokens.RSA) {
            return new Made(Tokens.rsa(pair, header, claims), true, false);
        }
        String algorithm = pair == Tokens.EDWARDS ? "Ed25519" : "SHA256withECDSAinP1363Format";
        return new Made(Tokens.signed(pair.getPrivate(), algorithm, header, claims), true, false);
    }

    /** What is public about a key, as a secret. */
    private static byte[] confused(Random random, String pem) {
        return switch (random.nextInt(6)) {
            case 0 -> pem.getBytes(StandardCharsets.US_ASCII);
            case 1 -> Tokens.pem(Tokens.RSA).getBytes(StandardCharsets.US_ASCII);
            case 2 -> Tokens.pem(Tokens.RSA).strip().getBytes(StandardCharsets.US_ASCII);
            case 3 -> Tokens.RSA.getPublic().getEncoded();
            case 4 -> ((RSAPublicKey) Tokens.RSA.getPublic()).getModulus().toByteArray();
            default -> new byte[32];
        };
    }

    /** A trusted token as the payload of one that is not. */
    private static Made nested(Random random, String header, String claims) {
        String inner = signedByTrusted(random, claims).text;
        String outer = Tokens.unsigned(header, inner);
        return new Made(
                switch (random.nextInt(3)) {
                    case 0 -> outer + ".";
                    case 1 -> outer + inner.substring(inner.lastIndexOf('.'));
                    default -> inner + "." + inner;
                },
                false,
                false);
    }

    /** The signature of another token. */
    private static Made moved(Random random, String header, String claims) {
        String signature = signedByTrusted(random, "{\"sub\":\"other\"}").text;
        return new Made(
                Tokens.unsigned(header, claims) + signature.substring(signature.lastIndexOf('.')), false, false);
    }

    /** A trusted token with another character in its header or claims. */
    private static Made changed(Random random, String token) {
        int at = random.nextInt(token.lastIndexOf('.'));
        char old = token.charAt(at);
        char other = "ABCabc019-_.=+/ ".charAt(random.nextInt(16));
        return old == other
                ? new Made(token, true, false)
                : new Made(token.substring(0, at) + other + token.substring(at + 1), false, false);
    }
}
