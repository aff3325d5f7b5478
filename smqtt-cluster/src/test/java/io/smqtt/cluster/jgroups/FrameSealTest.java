// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class FrameSealTest {

    private static final byte[] FRAME = "a frame of some length".getBytes(StandardCharsets.UTF_8);

    private final FrameSeal sender = seal("the secret of all nodes");
    private final FrameSeal receiver = seal("the secret of all nodes");

    private static FrameSeal seal(String secret) {
        try {
            return new FrameSeal(secret);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void opensWhatIsSealedWithTheSameSecret() throws Exception {
        byte[] sealed = sender.seal(FRAME);

        assertThat(receiver.open(sealed, 0, sealed.length)).isEqualTo(FRAME);
        assertThat(sender.open(sealed, 0, sealed.length)).isEqualTo(FRAME);
    }

    @Test
    void hidesWhatIsSealedAndNeverSealsTheSameWay() throws Exception {
        byte[] first = sender.seal(FRAME);
        byte[] second = sender.seal(FRAME);

        assertThat(new String(first, StandardCharsets.ISO_8859_1)).doesNotContain("frame");
        assertThat(Arrays.copyOfRange(first, 24, first.length))
                .isNotEqualTo(Arrays.copyOfRange(second, 24, second.length));
    }

    @Test
    void refusesAnotherSecret() throws Exception {
        byte[] sealed = seal("another secret of strangers").seal(FRAME);

        assertThat(receiver.open(sealed, 0, sealed.length)).isNull();
    }

    @Test
    void refusesWhatWasChangedOrCutOff() throws Exception {
        byte[] sealed = sender.seal(FRAME);
        for (int i = 0; i < sealed.length; i++) {
            byte[] changed = sealed.clone();
            changed[i] ^= 1;
            assertThat(receiver.open(changed, 0, changed.length))
                    .as("byte %d", i)
                    .isNull();
            assertThat(receiver.open(sealed, 0, i)).as("length %d", i).isNull();
        }
    }
}
