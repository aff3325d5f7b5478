// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.spi.LifecycleObserver;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Keys of a server that changes them, fails, and comes back; time is moved by hand. */
class FetchedKeysTest {

    private final List<Sinks.One<String>> requests = new ArrayList<>();
    private final List<Duration> delays = new ArrayList<>();
    private final List<String> reports = new ArrayList<>();
    private long nanos;
    private boolean closed;

    private final FetchedKeys keys = new FetchedKeys(
            new BackendContext(
                    "fleet",
                    AccessBackendConfig.builder("jwt").maxWaiting(2).build(),
                    () -> nanos,
                    new LifecycleObserver() {
                        @Override
                        public void backendAnswered(String backend, BackendOutcome outcome, long took) {
                            reports.add(outcome.name());
                        }

                        @Override
                        public void backendWorking(String backend, boolean working) {
                            reports.add(String.valueOf(working));
                        }
                    }),
            new FetchedKeys.Server() {
                @Override
                public Mono<String> body() {
                    Sinks.One<String> answer = Sinks.one();
                    requests.add(answer);
                    return answer.asMono();
                }

                @Override
                public void close() {
                    closed = true;
                }
            },
            Set.of(),
            Duration.ofMinutes(5),
            this::later);

    private Disposable later(Runnable task, Duration delay) {
        delays.add(delay);
        return Disposables.disposed();
    }

    @Test
    void clientsWaitForTheFirstKeys() {
        keys.start();
        Result result = ask("one");
        assertThat(result.isOpen()).isTrue();

        answer(set(jwk("one", Tokens.RSA)));

        assertThat(result.ids).containsExactly("one");
        assertThat(ask("one").ids).containsExactly("one");
        assertThat(requests).hasSize(1);
        assertThat(delays)
                .singleElement()
                .satisfies(delay -> assertThat(delay).isBetween(Duration.ofSeconds(269), Duration.ofSeconds(331)));
    }

    @Test
    void withoutAnyKeysClientsAreTurnedAwayAndTheServerIsAskedAgainLessAndLess() {
        keys.start();
        for (int i = 0; i < 7; i++) {
            fail();
            assertThat(ask("one").error).hasMessage("the keys cannot be fetched");
            keys.refresh();
        }

        assertThat(requests).hasSize(8);
        assertThat(delays).extracting(Duration::toSeconds).containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
        assertThat(reports).startsWith("FAILED", "false", "FAILED").doesNotContain("true");
        answer(set(jwk("one", Tokens.RSA)));
        assertThat(ask("one").ids).containsExactly("one");
        assertThat(reports).endsWith("ANSWERED", "true");
    }

    @Test
    void anUnknownKeyIsFetchedOnceInThirtySeconds() {
        keys.start();
        answer(set(jwk("one", Tokens.RSA)));

        Result first = ask("two");
        Result second = ask("two");
        assertThat(requests).hasSize(2);
        answer(set(jwk("one", Tokens.RSA), jwk("two", Tokens.OTHER_RSA)));
        assertThat(first.ids).containsExactly("two");
        assertThat(second.ids).containsExactly("two");

        for (int i = 0; i < 1000; i++) {
            assertThat(ask("x" + i).ids).isEmpty();
        }
        assertThat(requests).hasSize(2);
        nanos += Duration.ofSeconds(30).toNanos();
        assertThat(ask("y").isOpen()).isTrue();
        assertThat(requests).hasSize(3);
    }

    @Test
    void theLastKeysStayWhileTheServerFails() {
        keys.start();
        answer(set(jwk("one", Tokens.RSA)));
        keys.refresh();
        fail();
        keys.refresh();
        answer("{\"keys\":[]}");
        keys.refresh();
        answer("nonsense");

        assertThat(ask("one").ids).containsExactly("one");
        assertThat(ask("two").isOpen()).isTrue();
        fail();
        assertThat(ask("two").error).hasMessage("the keys cannot be fetched");
    }

    @Test
    void keysThatTheServerNoLongerHasAreNoLongerUsed() {
        keys.start();
        answer(set(jwk("one", Tokens.RSA), jwk("two", Tokens.OTHER_RSA)));
        keys.refresh();
        answer(set(jwk("two", Tokens.OTHER_RSA)));

        assertThat(ask("two").ids).containsExactly("two");
        Result gone = ask("one");
        answer(set(jwk("two", Tokens.OTHER_RSA)));
        assertThat(gone.ids).isEmpty();
    }

    @Test
    void theNumberOfClientsThatWaitIsLimited() {
        keys.start();
        Result first = ask("one");
        Result second = ask("one");

        assertThat(ask("one").error).isInstanceOf(BackendBusyException.class);
        answer(set(jwk("one", Tokens.RSA)));
        assertThat(first.ids).isEqualTo(second.ids).containsExactly("one");
    }

    @Test
    void anAlgorithmOfSecretsIsNeverFetchedFor() {
        keys.start();
        answer(set(jwk("one", Tokens.RSA)));

        assertThat(ask(token("{\"alg\":\"HS256\",\"kid\":\"other\"}")).ids).isEmpty();
        assertThat(ask(token("{\"alg\":\"HS256\",\"kid\":\"one\"}")).ids).isEmpty();
        assertThat(requests).hasSize(1);
    }

    @Test
    void withoutKidAllKeysOfTheAlgorithmAreTriedUpToEight() {
        String[] many = new String[20];
        Arrays.setAll(many, i -> jwk("k" + i, Tokens.RSA));
        keys.start();
        answer(set(many));

        assertThat(ask(token("{\"alg\":\"RS256\"}")).ids).hasSize(8);
        assertThat(ask("k19").ids).containsExactly("k19");
    }

    @Test
    void closedKeysFetchNothing() {
        keys.close();
        keys.refresh();

        assertThat(requests).isEmpty();
        assertThat(closed).isTrue();
    }

    @Test
    void eachKindOfKeyChecksItsTokens() {
        JsonKeySet set = JsonKeySet.parse(
                set(jwk("r", Tokens.RSA), curve("e"), edwards("d"), "{\"kty\":\"new\",\"kid\":\"n\"}", "17"), Set.of());

        assertThat(List.of(
                        Tokens.rsa(Tokens.RSA, "{\"alg\":\"RS256\",\"kid\":\"r\"}", "{}"),
                        Tokens.signed(
                                Tokens.CURVE.getPrivate(),
                                "SHA256withECDSAinP1363Format",
                                "{\"alg\":\"ES256\",\"kid\":\"e\"}",
                                "{}"),
                        Tokens.signed(
                                Tokens.EDWARDS.getPrivate(), "Ed25519", "{\"alg\":\"EdDSA\",\"kid\":\"d\"}", "{}")))
                .allSatisfy(text -> {
                    SignedToken token = Objects.requireNonNull(SignedToken.parse(text));
                    assertThat(set.candidates(token))
                            .singleElement()
                            .satisfies(key -> assertThat(key.verifies(token)).isTrue());
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "{\"keys\":{}}",
                "{\"keys\":[{\"kty\":\"oct\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY\"}]}",
                "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
                "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQ\",\"y\":\"AQ\"}]}",
            })
    void setsWithoutAKeyThatCanBeUsed(String text) {
        assertThatThrownBy(() -> JsonKeySet.parse(text, Set.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void keysForOtherPurposesAreLeftOut() {
        String good = jwk("r", Tokens.RSA);

        assertThat(List.of("\"use\":\"enc\"", "\"key_ops\":[\"encrypt\"]", "\"alg\":\"RSA-OAEP\"", "\"alg\":\"HS256\""))
                .allSatisfy(field -> assertThatThrownBy(
                                () -> JsonKeySet.parse(set(good.replace("{", "{" + field + ",")), Set.of()))
                        .hasMessage("an answer without a key that can be used"));
    }

    @Test
    void aChangedSetHasAnAnswerToo() {
        String good = set(jwk("r", Tokens.RSA), curve("e"), edwards("d"));
        Random random = new Random(5);
        int read = 0;

        for (int i = 0; i < 5_000; i++) {
            StringBuilder changed = new StringBuilder(good);
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                changed.setCharAt(random.nextInt(changed.length()), (char) (32 + random.nextInt(95)));
            }
            try {
                JsonKeySet.parse(changed.toString(), Set.of());
                read++;
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageNotContaining(changed.toString());
            }
        }
        assertThat(read).isPositive();
    }

    private static final class Result {
        private @Nullable List<@Nullable String> ids;
        private @Nullable Throwable error;

        boolean isOpen() {
            return ids == null && error == null;
        }
    }

    private Result ask(String kid) {
        return ask(token("{\"alg\":\"RS256\",\"kid\":\"" + kid + "\"}"));
    }

    private Result ask(SignedToken token) {
        Result result = new Result();
        keys.keys(token)
                .subscribe(
                        found -> {
                            List<@Nullable String> ids = new ArrayList<>();
                            found.forEach(key -> ids.add(key.id()));
                            result.ids = ids;
                        },
                        error -> result.error = error);
        return result;
    }

    private static SignedToken token(String header) {
        return Objects.requireNonNull(SignedToken.parse(Tokens.unsigned(header, "{}") + ".AAAA"));
    }

    private void answer(String text) {
        requests.get(requests.size() - 1).tryEmitValue(text);
    }

    private void fail() {
        requests.get(requests.size() - 1).tryEmitError(new IllegalStateException("status 500"));
    }

    static String set(String... keys) {
        return "{\"keys\":[" + String.join(",", keys) + "]}";
    }

    static String jwk(String kid, KeyPair pair) {
        RSAPublicKey key = (RSAPublicKey) pair.getPublic();
        return "{\"kty\":\"RSA\",\"kid\":\"" + kid + "\",\"e\":\"" + number(key.getPublicExponent(), 3) + "\",\"n\":\""
                + number(key.getModulus(), 256) + "\"}";
    }

    static String curve(String kid) {
        ECPublicKey key = (ECPublicKey) Tokens.CURVE.getPublic();
        return "{\"kty\":\"EC\",\"crv\":\"P-256\",\"alg\":\"ES256\",\"kid\":\"" + kid + "\",\"x\":\""
                + number(key.getW().getAffineX(), 32) + "\",\"y\":\""
                + number(key.getW().getAffineY(), 32) + "\"}";
    }

    private static String edwards(String kid) {
        byte[] encoded = Tokens.EDWARDS.getPublic().getEncoded();
        return "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"use\":\"sig\",\"kid\":\"" + kid + "\",\"x\":\""
                + Tokens.encode(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length)) + "\"}";
    }

    private static String number(BigInteger number, int length) {
        byte[] signed = number.toByteArray();
        byte[] fixed = new byte[length];
        int count = Math.min(length, signed.length);
        System.arraycopy(signed, signed.length - count, fixed, length - count, count);
        return Tokens.encode(fixed);
    }
}
