// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.AnonymousAccess;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BuiltInAuthenticatorTest {

    private static final Authentication ANONYMOUS = Authentication.accepted(null);

    @ParameterizedTest
    @CsvSource({
        "LOOPBACK, 127.0.0.1, true",
        "LOOPBACK, 127.8.9.10, true",
        "LOOPBACK, ::1, true",
        "LOOPBACK, ::ffff:127.0.0.1, true",
        "LOOPBACK, 192.0.2.7, false",
        "LOOPBACK, 0.0.0.0, false",
        "LOOPBACK, 2001:db8::1, false",
        "TRUE, 192.0.2.7, true",
        "FALSE, 127.0.0.1, false",
    })
    void anonymousClientsComeInByTheirAddress(AnonymousAccess access, String address, boolean accepted) {
        Authenticator authenticator = new AnonymousAuthenticator(access, false);

        assertThat(ask(authenticator, Clients.anonymousFrom(address)))
                .isEqualTo(accepted ? ANONYMOUS : Authentication.CONTINUE);
    }

    @Test
    void anonymousAccessIsNotForAddressesThatAreNotKnown() {
        AuthenticationRequest request = new AuthenticationRequest(
                "c1",
                null,
                null,
                InetSocketAddress.createUnresolved("localhost", 1),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false);

        assertThat(ask(new AnonymousAuthenticator(AnonymousAccess.LOOPBACK, false), request))
                .isEqualTo(Authentication.CONTINUE);
    }

    @Test
    void anonymousAccessIsNotForClientsThatNameAUser() {
        assertThat(ask(new AnonymousAuthenticator(AnonymousAccess.TRUE, false), Clients.login("alice", "x")))
                .isEqualTo(Authentication.CONTINUE);
    }

    @Test
    void whereNobodyIsVerifiedAUserNameIsIgnoredAndGivesNoIdentity() {
        assertThat(ask(new AnonymousAuthenticator(AnonymousAccess.TRUE, true), Clients.login("alice", "x")))
                .isEqualTo(ANONYMOUS);
        assertThat(ask(new AnonymousAuthenticator(AnonymousAccess.FALSE, true), Clients.login("alice", "x")))
                .isEqualTo(Authentication.CONTINUE);
    }

    @Test
    void certificateNamesAreAccepted() {
        assertThat(ask(new CertificateAuthenticator(), Clients.certified("CN=meter 7,O=Acme")))
                .isEqualTo(Authentication.accepted("CN=meter 7,O=Acme"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a+b", "#", "a\0b", "a\nb"})
    void certificateNamesThatCouldActAsWildcardsAreRefused(String name) {
        assertThat(ask(new CertificateAuthenticator(), Clients.certified(name))).isEqualTo(Authentication.refused());
    }

    @Test
    void namesThatAreNotFromCertificatesAreForOthers() {
        assertThat(ask(new CertificateAuthenticator(), Clients.login("alice", "x")))
                .isEqualTo(Authentication.CONTINUE);
        assertThat(ask(new CertificateAuthenticator(), Clients.certified(null))).isEqualTo(Authentication.CONTINUE);
    }

    private static Authentication ask(Authenticator authenticator, AuthenticationRequest request) {
        return authenticator.authenticate(request).block(Duration.ofSeconds(30));
    }
}
