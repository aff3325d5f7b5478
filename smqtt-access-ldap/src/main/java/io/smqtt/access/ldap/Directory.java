// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.BindRequest;
import com.unboundid.ldap.sdk.LDAPConnectionPool;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.LDAPSearchException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResult;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A directory that is searched, and to which clients bind. Searches and binds have connections of their own, so that no search is made with
 * the rights of a client. All methods block.
 */
final class Directory {

    /** What a server answers if the client may not bind, whatever the reason: none of them is a failure of the server. */
    private static final Set<ResultCode> REFUSED = Set.of(
            ResultCode.INVALID_CREDENTIALS,
            ResultCode.INAPPROPRIATE_AUTHENTICATION,
            ResultCode.NO_SUCH_OBJECT,
            ResultCode.CONSTRAINT_VIOLATION, // 389 Directory Server: locked
            ResultCode.UNWILLING_TO_PERFORM, // the same: disabled
            ResultCode.INSUFFICIENT_ACCESS_RIGHTS);

    private final LDAPConnectionPool searches;
    private final LDAPConnectionPool binds;

    Directory(LDAPConnectionPool searches, LDAPConnectionPool binds) {
        this.searches = searches;
        this.binds = binds;
    }

    /**
     * Searches for one entry.
     *
     * @return the entry, or null if there is none
     * @throws LdapFailedException if there are several, or the directory fails
     */
    @Nullable
    SearchResultEntry find(SearchRequest request) {
        try {
            SearchResult result = searches.search(request);
            if (result.getEntryCount() > 1) {
                throw severalEntries();
            }
            return result.getEntryCount() == 0
                    ? null
                    : result.getSearchEntries().get(0);
        } catch (LDAPSearchException e) {
            if (e.getResultCode().equals(ResultCode.NO_SUCH_OBJECT)) {
                return null; // the base
            }
            throw e.getResultCode().equals(ResultCode.SIZE_LIMIT_EXCEEDED)
                    ? severalEntries()
                    : LdapFailedException.of(e);
        }
    }

    private static LdapFailedException severalEntries() {
        return new LdapFailedException("more than one entry for a client");
    }

    /**
     * Binds as an entry.
     *
     * @param dn the name of an entry that was found
     * @param password the password; an empty one is refused without a request, because a server would take it for an anonymous bind
     * @return whether the server accepts the password
     * @throws LdapFailedException if the directory fails
     */
    boolean accepts(String dn, byte[] password) {
        if (password.length == 0 || dn.isEmpty()) {
            return false;
        }
        try {
            return binds.bind(new SimpleBindRequest(dn, password))
                    .getResultCode()
                    .equals(ResultCode.SUCCESS);
        } catch (LDAPException e) {
            if (REFUSED.contains(e.getResultCode())) {
                return false;
            }
            throw LdapFailedException.of(e);
        }
    }

    /** Sets the account of later connections for searches. */
    void searchAs(BindRequest account) {
        searches.setBindRequest(account);
    }

    void close() {
        searches.close();
        binds.close();
    }
}
