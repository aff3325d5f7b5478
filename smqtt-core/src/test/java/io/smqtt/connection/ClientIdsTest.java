// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientIdsTest {

    private final ClientIds ids = new ClientIds();

    @Test
    void whatWasAssignedIsKnownAgain() {
        String one = ids.assign();
        assertThat(one).startsWith("smqtt-").hasSize(34).isNotEqualTo(ids.assign());
        assertThat(ClientIds.isAssigned(one)).isTrue();
        assertThat(ClientIds.isAssigned(new ClientIds().assign())).isTrue();
    }

    @Test
    void whatIsChangedIsNot() {
        String one = ids.assign();
        for (int i = 0; i < one.length(); i++) {
            char other = one.charAt(i) == 'A' ? 'B' : 'A';
            assertThat(ClientIds.isAssigned(one.substring(0, i) + other + one.substring(i + 1)))
                    .isFalse();
            assertThat(ClientIds.isAssigned(one.substring(0, i))).isFalse();
        }
        assertThat(ClientIds.isAssigned(one + 'A')).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "smqtt-", "smqtt-a-user-of-20-letters", "smqtt-and-this-one-is-of-28-letter"})
    void whatOthersChooseIsNot(String clientId) {
        assertThat(ClientIds.isAssigned(clientId)).isFalse();
    }
}
