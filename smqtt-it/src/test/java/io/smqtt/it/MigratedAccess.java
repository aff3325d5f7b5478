// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

/** Clients that a broker with the settings of another one accepts and refuses, as the other one did. */
final class MigratedAccess {

    private MigratedAccess() {}

    /**
     * Publishes as a user and as a superuser, whose password is {@code secret}, with a wrong password and with an unknown name.
     *
     * @param broker started with settings of another one
     * @param allowed a topic that the user may publish to
     * @param forbidden topics that only the superuser may publish to
     */
    static void assertDecides(
            BrokerProcess broker, String user, String superuser, String allowed, String... forbidden) {
        assertThat(publish(broker, user, "secret", allowed)).isEmpty();
        for (String topic : forbidden) {
            assertThat(publish(broker, user, "secret", topic)).as(topic).containsIgnoringCase("not authorized");
            assertThat(publish(broker, superuser, "secret", topic)).as(topic).isEmpty();
        }
        assertThat(publish(broker, user, "wrong", allowed)).containsIgnoringCase("bad user name or password");
        assertThat(publish(broker, "nobody", "secret", allowed)).containsIgnoringCase("bad user name or password");
    }

    private static String publish(BrokerProcess broker, String user, String password, String topic) {
        return MosquittoPub.publish(broker, "-u", user, "-P", password, "-t", topic);
    }
}
