// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.config.TlsConfig;
import java.security.cert.X509Certificate;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/** Determines the user name from the client certificate, as the listener is configured. */
final class CertificateUser {

    private CertificateUser() {}

    /** Returns null if the listener does not take user names from certificates, or if there is none. */
    static @Nullable String of(@Nullable TlsConfig tls, @Nullable X509Certificate certificate) {
        if (tls == null || tls.userName() == TlsConfig.CertificateUserName.NONE) {
            return null;
        }
        if (certificate == null) {
            return null;
        }
        String subject = certificate.getSubjectX500Principal().getName(X500Principal.RFC2253);
        return tls.userName() == TlsConfig.CertificateUserName.DN ? subject : commonName(subject);
    }

    private static @Nullable String commonName(String subject) {
        try {
            for (Rdn part : new LdapName(subject).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    return String.valueOf(part.getValue());
                }
            }
            return null;
        } catch (InvalidNameException e) { // the subject of a verified certificate is readable
            throw new IllegalStateException("unreadable subject", e);
        }
    }
}
