// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import java.security.cert.X509Certificate;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/**
 * Names of a client certificate.
 *
 * @param subject the distinguished name, or null without a certificate
 * @param commonName its common name, or null if there is none
 */
public record CertificateNames(
        @Nullable String subject, @Nullable String commonName) {

    /** The names of a client without a certificate. */
    public static final CertificateNames NONE = new CertificateNames(null, null);

    /**
     * Reads the names.
     *
     * @param certificate a verified certificate, or null
     * @return its names
     */
    public static CertificateNames of(@Nullable X509Certificate certificate) {
        if (certificate == null) {
            return NONE;
        }
        String subject = certificate.getSubjectX500Principal().getName();
        return new CertificateNames(subject, commonName(subject));
    }

    private static @Nullable String commonName(String subject) {
        try {
            for (Rdn part : new LdapName(subject).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN") && part.getValue() instanceof String name) {
                    return name;
                }
            }
            return null;
        } catch (InvalidNameException e) {
            return null;
        }
    }
}
