// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.Ticker;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class WrongLoginsTest {

    private final WrongLogins logins = new WrongLogins(Ticker.SYSTEM);

    @Test
    void aUserWithManyDevicesLosesTheOldestAndNobodyElseLosesOne() {
        String bobs = logins.newDevice("bob");
        String first = logins.newDevice("alice");
        String second = logins.newDevice("alice");
        for (int i = 2; i <= WrongLogins.PLACES_OF_USER; i++) {
            logins.newDevice("alice");
        }

        assertThat(isKnown("alice", first)).isFalse();
        assertThat(isKnown("alice", second)).isTrue();
        assertThat(isKnown("bob", bobs)).isTrue();
        assertThat(isKnown("alice", bobs)).isFalse();
    }

    @Test
    void aDeviceThatIsUsedAgainIsTheLatest() {
        String first = logins.newDevice("alice");
        for (int i = 0; i < 2 * WrongLogins.PLACES_OF_USER; i++) {
            logins.succeeded(logins.place("alice", source(first)));
            logins.newDevice("alice");
        }

        assertThat(isKnown("alice", first)).isTrue();
    }

    private boolean isKnown(String user, String device) {
        return logins.place(user, source(device)).own();
    }

    private static LoginSource source(String device) {
        return new LoginSource(InetAddress.getLoopbackAddress(), device);
    }
}
