// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.LDAPException;

/** A directory cannot be reached, has answered with an error, or with what cannot be used. The message has no password. */
final class LdapFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int MAXIMUM_CHARS = 500;

    LdapFailedException(String message) {
        super(message, null, false, false);
    }

    static LdapFailedException of(LDAPException error) {
        String message = String.valueOf(error.getMessage());
        String shown = message.length() > MAXIMUM_CHARS ? message.substring(0, MAXIMUM_CHARS) : message;
        return new LdapFailedException(error.getResultCode() + ": " + shown);
    }
}
