// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

class PasswordChecksTest {

    private static final String HASH = "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2";
    private static final BackendContext CONTEXT = new BackendContext(
            "people", AccessBackendConfig.builder("sql").maxConcurrent(1).build(), Ticker.SYSTEM);

    private final PasswordChecks slow = new PasswordChecks(PasswordFormatTest.format("name", "auto"), CONTEXT);

    @Test
    void slowHashesAreComputedOnThreadsOfTheBackend() {
        String thread = slow.matches(client("correct horse"), HASH, null)
                .map(matches -> matches + " " + Thread.currentThread().getName())
                .block();

        assertThat(thread).startsWith("true smqtt-access-people-hash-");
        slow.close();
    }

    @Test
    void digestsAreComputedOnTheThreadOfTheCaller() {
        try (PasswordChecks fast = new PasswordChecks(PasswordFormatTest.format("name", "plain"), CONTEXT)) {
            String thread = fast.matches(client("secret"), "secret", null)
                    .map(matches -> matches + " " + Thread.currentThread().getName())
                    .block();

            assertThat(thread).isEqualTo("true " + Thread.currentThread().getName());
        }
    }

    @Test
    void nothingMatchesWithoutAPasswordOrWithADamagedHash() {
        assertThat(slow.matches(client(null), HASH, null).block()).isFalse();
        assertThat(slow.matches(client("correct horse\0"), HASH, null).block()).isFalse();
        assertThat(slow.matches(client("correct horse"), HASH.substring(1), null)
                        .block())
                .isFalse();
        assertThat(slow.matches(client("correct horse"), HASH.replace("$05$", "$31$"), null)
                        .block())
                .isFalse();
        slow.close();
    }

    @Test
    void moreChecksThanMayWaitAreRefusedAtOnce() {
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        String expensive = "PBKDF2$sha512$2000000$c2FsdA==$aGFzaA==";
        List<Disposable> waiting = IntStream.range(0, 2 * Runtime.getRuntime().availableProcessors() + 2)
                .mapToObj(i -> slow.matches(client("p" + i), expensive, null).subscribe(yes -> {}, errors::add))
                .toList();

        assertThat(errors).isNotEmpty().allSatisfy(error -> assertThat(error).isInstanceOf(BackendBusyException.class));
        waiting.forEach(Disposable::dispose);
        slow.close();
    }

    private static BackendRequest client(String password) {
        return new BackendRequest(
                "c1",
                "ann",
                password == null ? null : password.getBytes(UTF_8),
                new InetSocketAddress("127.0.0.1", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
    }
}
