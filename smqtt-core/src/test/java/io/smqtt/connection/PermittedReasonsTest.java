// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ReasonCode;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class PermittedReasonsTest {

    /** The errors of table 3-1 and of table 3-10 of MQTT 5.0. */
    private static final Set<Integer> IN_CONNACK =
            values("80 81 82 83 84 85 86 87 88 89 8A 8C 90 95 97 99 9A 9B 9C 9D 9F");

    private static final Set<Integer> IN_DISCONNECT =
            values("80 81 82 83 87 89 8B 8D 8E 8F 90 93 94 95 96 97 98 99 9A 9B 9C 9D 9E 9F A0 A1 A2");

    private static Set<Integer> values(String hex) {
        Set<Integer> values = new TreeSet<>();
        for (byte value : HexFormat.ofDelimiter(" ").parseHex(hex)) {
            values.add(value & 0xFF);
        }
        return values;
    }

    @ParameterizedTest
    @EnumSource
    void everyReasonOfARefusalHasAPlaceInConnAck(ReasonCode reason) { // [MQTT-3.2.2-8]
        assertThat(IN_CONNACK).contains(PermittedReasons.inConnAck(reason).value());
    }

    @ParameterizedTest
    @EnumSource
    void everyReasonOfAnEndHasAPlaceInDisconnect(ReasonCode reason) { // [MQTT-3.14.2-1]
        assertThat(IN_DISCONNECT).contains(PermittedReasons.inDisconnect(reason).value());
    }

    @Test
    void aReasonThatHasItsPlaceIsToldAsItIs() {
        assertThat(PermittedReasons.inConnAck(ReasonCode.BAD_USER_NAME_OR_PASSWORD))
                .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
        assertThat(PermittedReasons.inDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT))
                .isEqualTo(ReasonCode.KEEP_ALIVE_TIMEOUT);
        assertThat(PermittedReasons.inDisconnect(ReasonCode.QUOTA_EXCEEDED)).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
    }
}
