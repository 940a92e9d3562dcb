package world

// VolumeStates is what the contracts of volume pools answer.
var VolumeStates = volumeStates
