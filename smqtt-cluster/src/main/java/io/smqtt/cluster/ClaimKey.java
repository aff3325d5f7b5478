// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * Tells a claim apart from all others.
 *
 * @param claimant the node whose client it is
 * @param epoch the run of that node
 * @param number counts the claims of that run
 * @param clientId what is claimed
 */
record ClaimKey(String claimant, long epoch, long number, String clientId) {}
