// Package launch puts launch venues on a world's chain, Boardwalk's own contract and others that stand in for launchpads, and
// launches tokens there, trades with their curves and graduates them. It writes the venues' LaunchVenue resources.
package launch
