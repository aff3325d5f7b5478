// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/**
 * The client certificate, and names in it.
 *
 * @param subject the distinguished name, or null without a certificate
 * @param commonName its common name, or null if there is none
 * @param certificate the certificate; null without one, and where only names are known
 */
public record CertificateNames(
        @Nullable String subject,
        @Nullable String commonName,
        @Nullable X509Certificate certificate) {

    /** The names of a client without a certificate. */
    public static final CertificateNames NONE = new CertificateNames(null, null);

    private static final int LINE_CHARS = 64;

    /**
     * Names without a certificate.
     *
     * @param subject the distinguished name, or null
     * @param commonName the common name, or null
     */
    public CertificateNames(@Nullable String subject, @Nullable String commonName) {
        this(subject, commonName, null);
    }

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
        return new CertificateNames(subject, commonName(subject), certificate);
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

    /**
     * The certificate in DER.
     *
     * @return a new array, or null without a certificate
     */
    public byte @Nullable [] encoded() {
        try {
            return certificate == null ? null : certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            return null; // it was received in this encoding
        }
    }

    /**
     * The certificate in PEM.
     *
     * @return lines of 64 characters that end with a line feed, or null without a certificate
     */
    public @Nullable String pem() {
        byte[] bytes = encoded();
        return bytes == null
                ? null
                : "-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder(LINE_CHARS, "\n".getBytes(StandardCharsets.US_ASCII))
                                .encodeToString(bytes)
                        + "\n-----END CERTIFICATE-----\n";
    }
}
