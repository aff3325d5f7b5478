// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.config.ListenerConfig;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The facts about a relayed client as bytes. */
class RelayFactsTest {

    private static RelayFacts facts(boolean withCertificate) throws Exception {
        X509Bundle own = new CertificateBuilder()
                .subject("CN=device-1")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        return new RelayFacts(
                "front-1",
                "tls",
                new InetSocketAddress("2001:db8::17", 40_123),
                true,
                withCertificate,
                true,
                1_000,
                ListenerConfig.Sync.ASYNC,
                Duration.ofMillis(4_321),
                withCertificate ? "device-1" : null,
                withCertificate ? own.getCertificate() : null);
    }

    private static byte[] body(RelayFacts facts) throws Exception {
        byte[] all = facts.encode();
        return Arrays.copyOfRange(all, Integer.BYTES, all.length);
    }

    @Test
    void whatIsWrittenIsRead() throws Exception {
        RelayFacts with = facts(true);
        RelayFacts without = facts(false);

        assertThat(RelayFacts.decode(body(with))).isEqualTo(with);
        assertThat(RelayFacts.decode(body(without))).isEqualTo(without);
    }

    @Test
    void anythingElseIsRefused() throws Exception {
        byte[] good = body(facts(true));
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> RelayFacts.decode(cut)).isInstanceOf(MalformedBytesException.class);
        }
        assertThatThrownBy(() -> RelayFacts.decode(Arrays.copyOf(good, good.length + 1)))
                .isInstanceOf(MalformedBytesException.class);
        Random random = new Random(17);
        int refused = 0;
        for (int i = 0; i < 2_000; i++) {
            byte[] changed = good.clone();
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            try {
                RelayFacts.decode(changed);
            } catch (MalformedBytesException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1, 2_000);
    }
}
