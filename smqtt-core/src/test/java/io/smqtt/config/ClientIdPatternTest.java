// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientIdPatternTest {

    @ParameterizedTest
    @CsvSource({
        "${user}, alice, alice, true",
        "${user}, alice, Alice, false",
        "${user}, alice, alice2, false",
        "${user}, alice, bob, false",
        "${user}*, alice, alice2, true",
        "${user}-*, alice, alice-, true",
        "${user}-*, alice, alice-phone, true",
        "${user}-*, alice, alice, false",
        "${user}-*, alice, alic-e, false",
        "u/${user}, alice, u/alice, true",
        "u/${user}, alice, alice, false",
        "u/${user}.x, alice, u/alice.x, true",
        "u/${user}.x, alice, u/alice.xy, false",
        "u/${user}.x*, alice, u/alice.xy, true",
    })
    void aUserHasTheIdentifiersThatThePatternMakesOfTheName(
            String pattern, String userName, String clientId, boolean own) {
        assertThat(ClientIdPattern.parse("k", pattern).isOf(clientId, userName)).isEqualTo(own);
    }

    @ParameterizedTest
    @CsvSource({
        "${user}, x, true",
        "${user}-*, x, false",
        "${user}-*, x-, true",
        "${user}-*, -x, false",
        "${user}-*, -x-, true",
        "u/${user}, x, false",
        "u/${user}, u/, false",
        "u/${user}, u/x, true",
        "u/${user}.x, u/.x, false",
        "u/${user}.x, u/a.x, true",
        "u/${user}.x, u/a.y, false",
    })
    void whatCouldBeAUsersIdentifierIsReserved(String pattern, String clientId, boolean reserved) {
        assertThat(ClientIdPattern.parse("k", pattern).isReserved(clientId)).isEqualTo(reserved);
    }

    @ParameterizedTest
    @CsvSource({
        "${username}, unknown placeholder ${username}; known is ${user}",
        "${user}-${clientid}, unknown placeholder ${clientid}",
        "${user, unknown placeholder ${user;",
        "fixed, must hold ${user} once",
        "${user}${user}, must hold ${user} once",
        "*${user}, may have * only at its end",
        "${user}**, may have * only at its end",
    })
    void whatIsNoPatternIsSaid(String pattern, String problem) {
        assertThatThrownBy(() -> AccessConfig.builder().clientId(pattern).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("access.client-id ")
                .hasMessageContaining(problem);
    }

    @Test
    void nothingIsReservedByDefault() {
        assertThat(AccessConfig.defaults().clientIdPattern()).isNull();
    }
}
