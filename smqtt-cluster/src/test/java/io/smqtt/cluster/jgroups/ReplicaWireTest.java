// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InvalidObjectException;
import java.util.Arrays;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.Message;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.UUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;

/** The bytes of the channel for replicas, which the channel of the cluster refuses. */
class ReplicaWireTest {

    private static byte[] withHeader(int protocol, int number, int... rest) {
        byte[] bytes = new byte[11 + rest.length];
        bytes[1] = Message.EMPTY_MSG;
        bytes[6] = 1;
        bytes[7] = (byte) (protocol >> 8);
        bytes[8] = (byte) protocol;
        bytes[9] = (byte) (number >> 8);
        bytes[10] = (byte) number;
        for (int i = 0; i < rest.length; i++) {
            bytes[11 + i] = (byte) rest[i];
        }
        return bytes;
    }

    private static Message read(byte[] bytes, WireProfile profile) throws Exception {
        return WireMessages.read(new ByteArrayDataInputStream(bytes), profile);
    }

    @Test
    void otherHeadersAreRefused() {
        for (int protocol : new int[] {0, 60, 799, 800, 801, 863, 864}) {
            for (int number = 1_990; number < 3_010; number++) {
                boolean isElection =
                        protocol % 2 == 0 && List.of(3_000, 3_001, 3_005).contains(number);
                boolean isLog = protocol % 2 == 1 && List.of(2_000, 2_001).contains(number);
                byte[] bytes = withHeader(protocol, number);
                assertThatThrownBy(() -> read(bytes, WireProfile.CLUSTER)).isInstanceOf(InvalidObjectException.class);
                if (protocol < 800 || protocol > 863 || !isElection && !isLog) {
                    assertThatThrownBy(() -> read(bytes, WireProfile.REPLICAS))
                            .isInstanceOf(InvalidObjectException.class)
                            .hasMessageContaining("header of class " + number);
                }
            }
        }
    }

    @Test
    void anAnswerHasOneOfThreeResults() {
        byte[] bytes = withHeader(801, 2_001, 0, 1, 1, 3);
        assertThatThrownBy(() -> read(bytes, WireProfile.REPLICAS))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("result 3");
    }

    private static byte[] address(Address address) throws IOException {
        ByteArrayDataOutputStream out = new ByteArrayDataOutputStream();
        Util.writeAddress(address, out);
        return Arrays.copyOf(out.buffer(), out.position());
    }

    @Test
    void addressesWithNamesAreForReplicasOnly() throws Exception {
        byte[] named = address(
                ExtendedUUID.randomUUID("a").put("raft-id", new byte[] {'a'}).put("new-0", new byte[8]));
        WireGrammar.address(new ByteArrayDataInputStream(named), WireProfile.REPLICAS);
        assertThatThrownBy(() -> WireGrammar.address(new ByteArrayDataInputStream(named), WireProfile.CLUSTER))
                .isInstanceOf(InvalidObjectException.class);
        for (int length = 1; length < named.length; length++) {
            byte[] cut = Arrays.copyOf(named, length);
            assertThatThrownBy(() -> WireGrammar.address(new ByteArrayDataInputStream(cut), WireProfile.REPLICAS))
                    .isInstanceOf(IOException.class);
        }
        WireGrammar.address(new ByteArrayDataInputStream(address(UUID.randomUUID())), WireProfile.REPLICAS);
    }

    @Test
    void otherClassesOfAddressesAreRefused() {
        for (int number = 0; number < 100; number++) {
            byte[] bytes = new byte[40];
            bytes[2] = (byte) number;
            if (number != 12) {
                assertThatThrownBy(() -> WireGrammar.address(new ByteArrayDataInputStream(bytes), WireProfile.REPLICAS))
                        .isInstanceOf(InvalidObjectException.class)
                        .hasMessageContaining("class of an address " + number);
            }
        }
    }
}
